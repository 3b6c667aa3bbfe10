import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { firstObjectOf, type SampleObject, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { broadestFont } from "./substitute-fonts.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const FIRST = firstObjectOf(1);
const SIZE = { width: 120, height: 80 };

/** The pixels of a page, drawn by modules that are loaded anew. */
async function drawn(bytes: Buffer): Promise<Uint8Array> {
  const [{ usePdfDocument }, { drawPage }] = await Promise.all([
    import("./pdf-document.ts"),
    import("./open-pdf.ts"),
  ]);
  return usePdfDocument(bytes, (document) => drawPage(document, 0, SIZE));
}

function inkOf(pixels: Uint8Array): number {
  return pixels.filter((value) => value < 128).length;
}

function hex(text: string): string {
  return Buffer.from(text, "utf16le").swap16().toString("hex");
}

/** A page with text in a font that is not embedded, of two bytes per character with their Unicode values. */
function composedText(text: string, name = "ArialMT", more = ""): Buffer {
  const map = [...text].map((character) => `<${hex(character)}> <${hex(character)}>`);
  const objects: SampleObject[] = [
    `<</Type/Font/Subtype/Type0/BaseFont/${name}/Encoding/Identity-H/DescendantFonts[${FIRST + 1} 0 R]/ToUnicode ${FIRST + 3} 0 R>>`,
    `<</Type/Font/Subtype/CIDFontType2/BaseFont/${name}/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 600/FontDescriptor ${FIRST + 2} 0 R>>`,
    `<</Type/FontDescriptor/FontName/${name}/Flags 32/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 900/Descent -200/StemV 80>>`,
    {
      data:
        "begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange " +
        `${map.length} beginbfchar ${map.join(" ")} endbfchar endcmap`,
    },
  ];
  return samplePdf(
    [{ content: `BT /F 14 Tf 4 14 Td <${hex(text)}> Tj ET ${more}`, resources: `/Font<</F ${FIRST} 0 R>>` }],
    objects,
  );
}

test.each(["Жизнь", "Ελλάς", "שלום"])(
  "%s in a composite font that is not embedded is drawn with a font of this machine",
  async (text) => {
    expect(broadestFont()).toBeDefined();
    expect(inkOf(await drawn(composedText(text)))).toBeGreaterThan(150);
    expect(inkOf(await drawn(composedText(text, "SomeFont")))).toBeGreaterThan(150);
  },
);

test("Cyrillic letters of a simple font that is not embedded are drawn with a font of this machine", async () => {
  const font =
    "<</Type/Font/Subtype/TrueType/BaseFont/ArialMT/Encoding<</Type/Encoding/Differences[65/afii10017/afii10018]>>>>";
  const bytes = samplePdf(
    [{ content: "BT /F 24 Tf 4 14 Td (ABAB) Tj ET", resources: `/Font<</F ${FIRST} 0 R>>` }],
    [font],
  );
  expect(inkOf(await drawn(bytes))).toBeGreaterThan(150);
});

test("Latin text next to Cyrillic text looks as it does without", async () => {
  const both = await drawn(composedText("HЖ"));
  const latin = await drawn(composedText("H "));
  const left = (pixels: Uint8Array) => pixels.filter((_, index) => index % (SIZE.width * 3) < 24 * 3);
  expect(inkOf(left(latin))).toBeGreaterThan(30);
  expect(left(both)).toEqual(left(latin));
});

test("Latin text of annotations looks like Latin text of pages", async () => {
  const content = "BT /F 14 Tf 4 14 Td (Hamburg) Tj ET";
  const font = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>";
  const page = samplePdf([{ content, resources: font }]);
  const annotated = samplePdf(
    [{ entries: `/Annots[<</Type/Annot/Subtype/Stamp/Rect[0 0 60 40]/AP<</N ${FIRST} 0 R>>>>]` }],
    [{ dictionary: `/Type/XObject/Subtype/Form/BBox[0 0 60 40]/Resources<<${font}>>`, data: content }],
  );
  expect(await drawn(annotated)).toEqual(await drawn(page));
});

test("a font collection works as a font does", async () => {
  const single = await drawn(composedText("Жизнь"));
  const home = await mkdtemp(join(tmpdir(), "outrigger-fonts-"));
  const fonts = join(home, ".fonts", "deeper");
  await mkdir(fonts, { recursive: true });
  const path = broadestFont()?.path ?? "";
  await writeFile(join(fonts, "a.ttc"), collectionOf(await readFile(path)));
  await writeFile(join(fonts, "broken.ttf"), "no font");
  await writeFile(join(fonts, "empty.otf"), "");
  vi.stubEnv("HOME", home);
  vi.resetModules();
  const { broadestFont: broadest } = await import("./substitute-fonts.ts");
  expect(broadest()?.path).toBe(join(fonts, "a.ttc"));
  expect(await drawn(composedText("Жизнь"))).toEqual(single);
  await rm(home, { recursive: true });
});

/** A collection of one font (OpenType, "Font Collections"). */
function collectionOf(font: Buffer): Buffer {
  const header = Buffer.alloc(16);
  header.write("ttcf");
  header.writeUInt32BE(0x0001_0000, 4);
  header.writeUInt32BE(1, 8);
  header.writeUInt32BE(header.length, 12);
  const moved = Buffer.from(font);
  for (let index = 0; index < moved.readUInt16BE(4); index++) {
    const offset = 12 + 16 * index + 8;
    moved.writeUInt32BE(moved.readUInt32BE(offset) + header.length, offset);
  }
  return Buffer.concat([header, moved]);
}
