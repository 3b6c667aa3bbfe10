import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPdf } from "../packages/imaging/src/worker/pdf/open-pdf.ts";
import { repairPdf } from "../packages/imaging/src/worker/pdf/repair-pdf.ts";
import { meanDifference, type ReadPicture } from "./matrix/independent-reader.ts";
import { openBrowser } from "./support/chromium.ts";
import { pdfDamages } from "./support/damaged-pdfs.ts";
import { pdfGallery } from "./support/pdf-gallery.ts";
import { encryptedPdf, restrictedPdf } from "./support/pdf-samples.ts";
import { programs, run } from "./support/programs.ts";

/** Of 255: the mean difference, after blurring, up to which two drawings look alike. */
const ALIKE = 0.02 * 255;
/** The share of pages that must be alike. */
const SHARE = 0.98;
/** Pages that may differ from poppler's, each with its cause. They do not count. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "font Courier": "poppler draws fonts that are not embedded with those of the machine",
  "font Courier-Bold": "poppler draws fonts that are not embedded with those of the machine",
  "crop box beyond the media box":
    "poppler draws the whole crop box; ISO 32000-1, 14.11.2 cuts it at the media box",
};

let directory: string;
const pages = new Map<string, Buffer>();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-pdf-"));
  for (const [name, bytes] of await pdfGallery()) pages.set(name, bytes);
  for (const [name, bytes] of await printedByChromium()) pages.set(name, bytes);
  pages.set("written by cairo", await writtenByCairo());
  pages.set("restricted", restrictedPdf);
  const printed = pages.get("printed text") ?? Buffer.alloc(0);
  for (const option of ["--object-streams=generate", "--object-streams=disable", "--linearize", "--qdf"]) {
    pages.set(`rewritten by qpdf ${option}`, await rewritten(printed, option));
  }
});
afterAll(() => rm(directory, { recursive: true }));

async function printedByChromium(): Promise<[string, Buffer][]> {
  const { context, close } = await openBrowser();
  const styles: [string, string][] = [
    [
      "printed text",
      "<h1>Sphinx of black quartz</h1><p>Жизнь и Ελλάς, <b>bold</b>, <i>italic</i>, <code>code</code>.</p>".repeat(
        6,
      ),
    ],
    [
      "printed boxes",
      "<div style='margin:20px;padding:30px;border:8px double #c30;border-radius:30px;background:linear-gradient(#fff,#08f);box-shadow:4px 4px 9px #0006'>Box</div>".repeat(
        4,
      ),
    ],
    [
      "printed table",
      `<table border=1>${"<tr><td>cell</td><td style='opacity:.5;background:#fc0'>half</td></tr>".repeat(20)}</table>`,
    ],
    [
      "printed transforms",
      "<div style='transform:rotate(20deg);margin:90px;width:200px;background:#9f9;mix-blend-mode:multiply'>Rotated text</div>",
    ],
  ];
  const printed: [string, Buffer][] = [];
  for (const [name, html] of styles) {
    const page = await context.newPage();
    await page.setContent(html);
    printed.push([name, await page.pdf({ width: "500px", height: "700px", printBackground: true })]);
    await page.close();
  }
  await close();
  return printed;
}

async function writtenByCairo(): Promise<Buffer> {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="200"><rect width="150" height="200" fill="teal"/>' +
    '<circle cx="170" cy="90" r="60" fill="#f60" opacity=".6"/><text x="20" y="180" font-size="30">cairo Жук</text></svg>';
  return (await run(programs.rsvgConvert, ["-f", "pdf"], { input: svg })).stdout;
}

async function rewritten(bytes: Buffer, option: string): Promise<Buffer> {
  const [from, to] = [join(directory, `${randomUUID()}.pdf`), join(directory, `${randomUUID()}.pdf`)];
  await writeFile(from, bytes);
  expect((await run(programs.qpdf, [option, from, to])).status).toBe(0);
  return await readFile(to);
}

/** The first page at 72 dpi as poppler draws it; `null` if poppler cannot open it. */
async function popplerPage(bytes: Buffer): Promise<ReadPicture | null> {
  const path = join(directory, randomUUID());
  await writeFile(path, bytes);
  const { stdout } = await run(programs.pdftoppm, ["-cropbox", "-singlefile", "-r", "72", path]);
  await rm(path);
  const [header, width, height] = /^P6\n(\d+) (\d+)\n255\n/.exec(stdout.toString("latin1", 0, 32)) ?? [];
  if (header === undefined) return null;
  return { width: Number(width), height: Number(height), rgb: stdout.subarray(header.length) };
}

/** The first page at 72 dpi as we draw it. */
async function ourPage(bytes: Buffer): Promise<ReadPicture> {
  const { natural, decode } = await openPdf(await repairPdf(bytes), { maxPixels: 25_000_000 });
  const drawnAs = { width: Math.ceil(natural.width / 2), height: Math.ceil(natural.height / 2) };
  return { ...drawnAs, rgb: await (await decode({ drawnAs })).raw().toBuffer() };
}

/** The mean difference of two pictures, blurred by 1.2 pixels; infinite if they differ by more than a pixel in size. */
async function differenceOf(ours: ReadPicture, theirs: ReadPicture): Promise<number> {
  if (Math.abs(ours.width - theirs.width) > 1 || Math.abs(ours.height - theirs.height) > 1) {
    return Number.POSITIVE_INFINITY;
  }
  const size = {
    width: Math.min(ours.width, theirs.width),
    height: Math.min(ours.height, theirs.height),
  };
  const blurred = async ({ width, height, rgb }: ReadPicture): Promise<ReadPicture> => {
    const raw = { width, height, channels: 3 } as const;
    const cut = sharp(
      await sharp(rgb, { raw })
        .extract({ left: 0, top: 0, ...size })
        .raw()
        .toBuffer(),
      {
        raw: { ...size, channels: 3 },
      },
    );
    return { ...size, rgb: await cut.blur(1.2).raw().toBuffer() };
  };
  return meanDifference(await blurred(ours), await blurred(theirs));
}

test("at least 98 % of PDF pages look as poppler draws them, within 2 %", async () => {
  const differing: string[] = [];
  let alike = 0;
  for (const [name, bytes] of pages) {
    const theirs = await popplerPage(bytes);
    expect(theirs, name).not.toBeNull();
    const difference = theirs === null ? 0 : await differenceOf(await ourPage(bytes), theirs);
    if (difference <= ALIKE) alike++;
    else if (!(name in EXCEPTIONS)) differing.push(`${name}: ${((difference / 255) * 100).toFixed(1)} %`);
  }
  const count = alike + differing.length;
  expect(count).toBeGreaterThan(55);
  expect(alike / count, `Of ${count} pages differ: ${differing.join("; ")}`).toBeGreaterThanOrEqual(SHARE);
}, 120_000);

describe("a damaged PDF that poppler draws like the healthy file is drawn like it", () => {
  const samples = ["shapes", "printed text", "written by cairo", "rewritten by qpdf --linearize"];

  test.each(samples)(
    "%s",
    async (name) => {
      const healthy = pages.get(name) ?? Buffer.alloc(0);
      const whole = await popplerPage(healthy);
      expect(whole).not.toBeNull();
      const failures: string[] = [];
      let compared = 0;
      for (const [damage, apply] of pdfDamages) {
        const damaged = apply(healthy);
        const theirs = await popplerPage(damaged);
        if (whole === null || theirs === null || (await differenceOf(theirs, whole)) > ALIKE) continue;
        compared++;
        const difference = await ourPage(damaged).then(
          (ours) => differenceOf(ours, whole),
          () => Number.POSITIVE_INFINITY,
        );
        if (difference > ALIKE) failures.push(`${damage}: ${difference.toFixed(1)} of 255`);
      }
      expect(compared).toBeGreaterThan(25);
      expect(failures).toEqual([]);
    },
    120_000,
  );
});

test("a file that poppler cannot open either is refused", async () => {
  for (const bytes of [encryptedPdf, Buffer.from("%PDF-1.7\nText"), Buffer.from("<html>1 0 obj")]) {
    expect(await popplerPage(bytes)).toBeNull();
    await expect(ourPage(bytes)).rejects.toMatchObject({ code: "unsupported_media" });
  }
});
