import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { transformPdf } from "../packages/imaging/src/worker/pdf/transform-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "../packages/imaging/src/worker/pdf/write-pdf.ts";
import { meanDifference, type ReadPicture } from "./matrix/independent-reader.ts";
import { firstObjectOf, samplePdf } from "./support/pdf-samples.ts";
import { photo } from "./support/pictures.ts";
import { programs, run } from "./support/programs.ts";

/** Stands for the path of the file in the arguments of a program. */
const FILE = "FILE";

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-pdf-"));
});
afterAll(() => rm(directory, { recursive: true }));

/** What a program says about a file. Of what is wrong with it, qpdf's warnings too fail it. */
async function ask(program: string, args: readonly string[], bytes: Buffer): Promise<Buffer> {
  const path = join(directory, `${randomUUID()}.pdf`);
  await writeFile(path, bytes);
  const asked = args.map((argument) => (argument === FILE ? path : argument));
  const { status, stdout, stderr } = await run(program, asked);
  expect(status, `${program} of ${bytes.length} bytes: ${stdout}${stderr}`).toBe(0);
  await rm(path);
  return stdout;
}

async function expectClean(bytes: Buffer): Promise<void> {
  expect(String(await ask(programs.qpdf, ["--check", FILE], bytes))).toContain(
    "No syntax or stream encoding errors",
  );
}

/** Pages, and points of the first one. */
async function readFacts(bytes: Buffer): Promise<{ pages: number; width: number; height: number }> {
  const text = String(await ask(join(dirname(programs.pdftoppm), "pdfinfo"), [FILE], bytes));
  const [, pages] = /^Pages: +(\d+)$/m.exec(text) ?? [];
  const [, width, height] = /^Page size: +([\d.]+) x ([\d.]+) pts/m.exec(text) ?? [];
  return { pages: Number(pages), width: Number(width), height: Number(height) };
}

/** A page as poppler draws it. */
async function popplerPage(bytes: Buffer, dpi: number, page = 1): Promise<ReadPicture> {
  const range = ["-singlefile", "-f", String(page)];
  const png = await ask(programs.pdftoppm, ["-cropbox", ...range, "-r", String(dpi), "-png", FILE], bytes);
  const { data, info } = await sharp(png).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb: data };
}

describe("a PDF that we write of a raster is sound, of one page, and shows", () => {
  const size = { width: 90, height: 60 };
  let picture: Buffer;
  beforeAll(async () => {
    picture = await (await photo(size.width, size.height)).blur(3).png().toBuffer();
  });

  test("opaque pixels", async () => {
    const pixels = await sharp(picture).removeAlpha().raw().toBuffer();
    const bytes = await pdfOfPixels(pixels, { ...size, channels: 3 }, size);
    await expectOnePage(bytes, size);
    const [colours, ...others] = await embeddedPictures(bytes);
    expect(colours?.equals(pixels)).toBe(true);
    expect(others).toEqual([]);
    expect(meanDifference(await drawnByPoppler(bytes, 288), { ...size, rgb: pixels })).toBeLessThan(4);
  });
  test.each([
    ["an RGB", 3, false],
    ["a progressive", 3, true],
    ["a grey", 1, false],
  ] as const)("%s JPEG", async (_, components, progressive) => {
    const space = components === 1 ? "b-w" : "srgb";
    const jpeg = await sharp(picture).toColourspace(space).jpeg({ quality: 90, progressive }).toBuffer();
    const page = { width: 45, height: 30 };
    const bytes = pdfOfJpeg(jpeg, { ...size, components }, page);
    await expectOnePage(bytes, page);
    const rgb = await sharp(jpeg).toColourspace("srgb").raw().toBuffer();
    expect(meanDifference(await drawnByPoppler(bytes, 576), { ...size, rgb })).toBeLessThan(4);
  });

  async function expectOnePage(bytes: Buffer, page: { width: number; height: number }): Promise<void> {
    await expectClean(bytes);
    expect(await readFacts(bytes)).toEqual({ pages: 1, ...page });
  }

  /** The pixels of the pictures in it, as they are stored, as RGB. */
  async function embeddedPictures(bytes: Buffer): Promise<Buffer[]> {
    const folder = await mkdtemp(join(directory, "pictures-"));
    await ask(join(dirname(programs.pdftoppm), "pdfimages"), ["-png", FILE, join(folder, "picture")], bytes);
    const names = (await readdir(folder)).sort();
    return Promise.all(
      names.map(async (name) => {
        const image = sharp(await readFile(join(folder, name)));
        return image.toColourspace("srgb").raw().toBuffer();
      }),
    );
  }

  /** Drawn four times as large and reduced, for poppler moves the edges of pictures by up to a pixel. */
  async function drawnByPoppler(bytes: Buffer, dpi: number): Promise<ReadPicture> {
    const { rgb, ...large } = await popplerPage(bytes, dpi);
    const image = sharp(rgb, { raw: { ...large, channels: 3 } }).resize({ ...size, fit: "fill" });
    return { ...size, rgb: await image.raw().toBuffer() };
  }
});
describe("a transformed PDF", () => {
  const first = firstObjectOf(3);
  const font = "/Font<</T<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>>>>";
  const resources = `/Pattern<</P ${first} 0 R>>${font}`;
  const content = "/Pattern cs /P scn 5 5 25 30 re f BT /T 12 Tf 1 0 0 rg 10 15 Td (Text) Tj ET";
  const original = samplePdf(
    [
      { content, resources },
      { content, resources, entries: "/Rotate 90/CropBox[4 4 56 36]" },
      { content, resources, entries: `/Annots[${first + 1} 0 R ${first + 2} 0 R]` },
    ],
    [
      {
        dictionary:
          "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 5 5]/XStep 5/YStep 5/Resources<<>>",
        data: "0 0 1 rg 0 0 3 2 re f",
      },
      `<</Type/Annot/Subtype/Stamp/F 4/Rect[30 10 50 30]/AP<</N ${first + 3} 0 R>>>>`,
      `<</Type/Annot/Subtype/Widget/F 4/FT/Tx/T(field)/V(x)/Rect[5 5 20 20]/AP<</N ${first + 3} 0 R>>>>`,
      { dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]", data: "0 .6 0 rg 1 1 8 8 re f" },
    ],
    { catalogue: `/AcroForm<</Fields[${first + 2} 0 R]>>` },
  );

  test.each([0.5, 2])("scaled by %d is sound, and poppler sees the same pages", async (scale) => {
    const scaled = await transformPdf(original, { scale });
    await expectClean(scaled);
    expect(await readFacts(scaled)).toEqual({ pages: 3, width: 60 * scale, height: 40 * scale });
    for (const page of [1, 2, 3]) {
      const [one, other] = await Promise.all([
        popplerPage(scaled, 288 / scale, page),
        popplerPage(original, 288, page),
      ]);
      expect(meanDifference(one, other)).toBeLessThan(0.5);
    }
  });

  test.each([1, 2, 3])("that is page %i alone is sound, and poppler sees the same page", async (page) => {
    const single = await transformPdf(original, { page });
    await expectClean(single);
    expect((await readFacts(single)).pages).toBe(1);
    const [one, other] = await Promise.all([popplerPage(single, 288), popplerPage(original, 288, page)]);
    expect(meanDifference(one, other)).toBeLessThan(0.5);
  });
});
