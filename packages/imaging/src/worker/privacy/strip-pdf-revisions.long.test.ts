import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import { compressedPdf, updatedPdf } from "../../../../../test/support/metadata-samples.ts";
import { pdfOfObjects, QUARTERS, type SampleObject } from "../../../../../test/support/pdf-samples.ts";
import {
  CANARY,
  clean,
  document,
  drawn,
  everythingIn,
  FIRST,
  file,
  JAVASCRIPT,
  link,
  specification,
  strip,
} from "../../../test/acting-pdfs.ts";
import { stripPdf } from "./strip-pdf.ts";

describe("stripPdf finds actions", () => {
  const objects: SampleObject[] = [
    `<</Type/Catalog/Pages 2 0 R/OpenAction 6 0 R/Names<</EmbeddedFiles<</Names[(a) 7 0 R]>>>>>>`,
    "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>",
    `<</Type/Page/Parent 2 0 R/Contents 5 0 R/AA<</O 4 0 R>>>>`,
    JAVASCRIPT,
    { data: QUARTERS },
    `<</S/JavaScript/JS 9 0 R>>`,
    specification(8),
    file,
    { data: CANARY },
  ];

  test("in object streams", async () => {
    await clean(compressedPdf(objects));
  });

  test("of superseded revisions", async () => {
    const original = document({ catalogue: `/OpenAction ${FIRST} 0 R`, objects: [JAVASCRIPT] });
    await clean(updatedPdf(original, { 1: "<</Type/Catalog/Pages 2 0 R>>" }));
    await clean(updatedPdf(original, { [FIRST]: "<</S/GoTo/D[3 0 R/Fit]>>" }));
    const later = { 1: `<</Type/Catalog/Pages 2 0 R/OpenAction ${JAVASCRIPT}>>` };
    await clean(updatedPdf(document({}), later));
    await clean(updatedPdf(compressedPdf(objects), { 4: "<</S/GoTo/D(a)>>" }));
  });

  test("and keeps an object of a later revision that reuses the number of an annotation", async () => {
    const original = document({ annotations: [`${FIRST} 0 R`], objects: [link(JAVASCRIPT)] });
    const page = `<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F ${FIRST} 0 R>>>>>>`;
    const font = "<</Type/Font/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    const stripped = await clean(updatedPdf(original, { 3: page, [FIRST]: font }));
    expect(stripped.toString("latin1")).toMatch(/\/BaseFont ?\/Helvetica/);
  });

  test("in a cut-off copy whose table is missing", async () => {
    const pdf = document({ catalogue: `/OpenAction ${JAVASCRIPT}` });
    await clean(Buffer.from(pdf.toString("latin1").replace(/xref.*?trailer/s, "trailer"), "latin1"));
  });
});

test("stripPdf removes actions from any combination of constructs, places and codings", async () => {
  const { below } = createRandom(17);
  const either = (texts: readonly (() => string)[]): string => texts[below(texts.length)]?.() ?? "";
  const escaped = (name: string) =>
    name.replace(/./g, (letter) => either([() => letter, () => `#${letter.charCodeAt(0).toString(16)}`]));
  for (let round = 0; round < 60; round++) {
    const objects: SampleObject[] = ["", "", "", { data: QUARTERS }];
    const refer = (object: SampleObject): string => `${objects.push(object)} 0 R`;
    const place = (text: string): string => either([() => text, () => refer(text)]);
    const script = () => either([() => place(`(${CANARY})`), () => refer({ data: CANARY })]);
    const none = () => "";
    const action = (depth = 0): string => {
      const following = () => either([() => action(depth + 1), () => `[${action(depth + 1)}]`]);
      const next = depth > 3 ? none : () => `/Next ${place(following())}`;
      const kind = either([
        () => "/S/GoTo/D[3 0 R/Fit]",
        () => "/S/URI/URI(https://e.test)",
        () => "/S/URI/URI(file://e.test)",
        () => `/${escaped("S")}/${escaped("JavaScript")}/JS ${script()}`,
        () => `/S/Launch/F(${CANARY})`,
      ]);
      return place(`<<${kind}${either([next, none, none])}>>`);
    };
    const attached = () => {
      const stream = refer({ data: CANARY, dictionary: either([none, () => "/Type/EmbeddedFile"]) });
      return place(`<</${escaped("EF")}<</F ${stream}>>/F(x)>>`);
    };
    const field = `<</FT/Tx/T(f)/Rect[0 0 9 9]/Subtype/Widget/${escaped("AA")} ${place(`<</K ${action()}>>`)}>>`;
    const annotations = ["Link", "FileAttachment"].map((subtype) =>
      place(`<</Subtype/${subtype}/Rect[9 9 20 20]/${escaped("A")} ${action()}/FS ${attached()}>>`),
    );
    const scripts = place(`<</Names[(a)${place(`<</S/JavaScript/JS ${script()}>>`)}]>>`);
    const names = `<</JavaScript ${scripts}/EmbeddedFiles ${place(`<</Names[(a)${attached()}]>>`)}>>`;
    const form = place(`<</Fields[${place(field)}]>>`);
    const catalog = `<</Type/Catalog/Pages 2 0 R/${escaped("OpenAction")} ${action()}/Names ${place(names)}/AcroForm ${form}>>`;
    const pages = "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 60 40]>>";
    const page = `<</Type/Page/Parent 2 0 R/Contents 4 0 R/Annots ${place(`[${annotations.join(" ")}]`)}/AA<</O ${action()}>>>>`;
    objects.splice(0, 3, catalog, pages, page);
    const pdf = below(2) === 0 ? compressedPdf(objects) : pdfOfObjects(objects);
    const isUpdated = below(3) === 0;
    const full = isUpdated ? updatedPdf(pdf, { 1: catalog, 2: pages }) : pdf;
    const stripped = await strip(full);
    const text = everythingIn(stripped);
    expect(text, `round ${round}`).not.toMatch(
      new RegExp(`${CANARY}|file:|/(?:JavaScript|Launch|EF|AA|EmbeddedFiles?|FileAttachment)\\b`),
    );
    expect((await drawn(stripped)).equals(await drawn(full))).toBe(true);
    expect(await stripPdf(stripped)).toBeNull();
  }
});

test.each([
  [
    "actions that follow each other in a circle",
    [`<</S/GoTo/D(a)/Next ${FIRST + 1} 0 R>>`, `<</S/GoTo/D(a)/Next[${FIRST} 0 R]>>`],
  ],
  [
    "20,000 actions in a row",
    Array.from({ length: 20_000 }, (_, index) => `<</S/GoTo/D(a)/Next ${FIRST + index + 1} 0 R>>`),
  ],
  ["actions within actions", [`${"<</S/GoTo/D(a)/Next".repeat(150)}<<>>${">>".repeat(150)}`]],
  ["a list of 100,000 actions", [`[${"<</S/GoTo/D(a)>>".repeat(100_000)}]`]],
])("stripPdf ends in time for %s", async (_, objects) => {
  const began = process.cpuUsage();
  await stripPdf(document({ catalogue: `/OpenAction<</S/GoTo/D(a)/Next ${FIRST} 0 R>>`, objects })).catch(
    (error: { code: string }) => {
      expect(error.code).toBe("unsupported_media");
    },
  );
  expect(process.cpuUsage(began).user / 1000).toBeLessThan(60_000);
});
