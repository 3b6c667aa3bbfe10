import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import { firstObjectOf, type SampleObject, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { drawPage } from "./open-pdf.ts";
import { usePdfDocument } from "./pdf-document.ts";

const FIRST = firstObjectOf(1);
const RGB = "/ColorSpace/DeviceRGB/BitsPerComponent 8";
const WHOLE_PAGE = "60 0 0 40 0 0 cm";

/** A page that shows an image of 60 by 40 pixels after `before`. */
function imagePage(
  data: Buffer,
  dictionary: string,
  { place = WHOLE_PAGE, before = "", entries = "" } = {},
): Buffer {
  const image = { dictionary: `/Type/XObject/Subtype/Image/Width 60/Height 40${dictionary}`, data };
  const content = `${before} q ${place} /I Do Q`;
  return samplePdf([{ content, entries, resources: `/XObject<</I ${FIRST} 0 R>>` }], [image]);
}

/** Draws a page at three sizes, the smallest as at admission. Rejects with the reason at each size, or at none. */
async function draw(bytes: Buffer): Promise<Buffer> {
  const drawings = [16, 60, 900].map((width) => {
    const size = { width, height: Math.round((width * 2) / 3) };
    return usePdfDocument(bytes, (document) => drawPage(document, 0, size)).catch(
      ({ message }: Error) => message,
    );
  });
  const [small, middle, large] = await Promise.all(drawings);
  if (middle === undefined || typeof middle === "string") {
    expect([small, large]).toEqual([middle, middle]);
    throw new Error(middle);
  }
  expect([typeof small, typeof large]).toEqual(["object", "object"]);
  return middle;
}

let jpeg: Buffer;
let pixels: Buffer;
beforeAll(async () => {
  pixels = Buffer.from(Array.from({ length: 60 * 40 * 3 }, (_, index) => (index * 7) % 251));
  const image = sharp(pixels, { raw: { width: 60, height: 40, channels: 3 } });
  jpeg = await image.jpeg().toBuffer();
});

/** The JPEG with another marker for its frame, and another depth. */
function reframed(marker: number, bits = 8): Buffer {
  const changed = Buffer.from(jpeg);
  const frame = changed.indexOf(Buffer.of(0xff, 0xc0));
  changed[frame + 1] = marker;
  changed[frame + 4] = bits;
  return changed;
}

describe("a page whose picture PDFium cannot decode is refused:", () => {
  test.each<[title: string, data: () => Buffer, dictionary: string, reason: string]>([
    ["a lossless JPEG", () => reframed(0xc3), `/Filter/DCTDecode${RGB}`, "lossless JPEG"],
    ["an arithmetic JPEG", () => reframed(0xc9), `/Filter/DCTDecode${RGB}`, "arithmetic JPEG"],
    ["a hierarchical JPEG", () => reframed(0xc5), `/Filter/DCTDecode${RGB}`, "hierarchical JPEG"],
    ["a JPEG of 12 bits", () => reframed(0xc1, 12), `/Filter/DCTDecode${RGB}`, "JPEG of 12 bits"],
    [
      "a lossless JPEG that is also compressed by Flate",
      () => deflateSync(reframed(0xc3)),
      `/Filter[/FlateDecode/DCTDecode]${RGB}`,
      "lossless JPEG",
    ],
    ["a JPEG cut in its head", () => jpeg.subarray(0, 100), `/Filter/DCTDecode${RGB}`, "damaged JPEG"],
    ["noise as JPEG", () => Buffer.alloc(900, "xyz"), `/Filter/DCTDecode${RGB}`, "damaged JPEG"],
    ["noise as JPEG 2000", () => Buffer.alloc(900, "jP"), "/Filter/JPXDecode", "JPEG 2000"],
    [
      "noise as JBIG2",
      () => Buffer.alloc(900, "x"),
      "/Filter/JBIG2Decode/BitsPerComponent 1",
      "damaged JBIG2",
    ],
    ["an unknown filter", () => pixels, `/Filter/FooDecode${RGB}`, "compression FooDecode"],
  ])("%s", async (_, data, dictionary, reason) => {
    const message = `This cannot be read as application/pdf: its page 1 shows a picture that cannot be decoded (${reason}).`;
    await expect(draw(imagePage(data(), dictionary))).rejects.toThrow(message);
  });

  test("a lossless JPEG that fills half of a page of text", async () => {
    const bytes = imagePage(reframed(0xc3), `/Filter/DCTDecode${RGB}`, {
      place: "60 0 0 20 0 0 cm",
      before: "0 0 1 rg 5 25 20 10 re f",
    });
    await expect(draw(bytes)).rejects.toThrow("lossless JPEG");
    const rotated = imagePage(reframed(0xc3), `/Filter/DCTDecode${RGB}`, {
      place: "30 0 0 40 0 0 cm",
      before: "0 0 1 rg 35 5 20 30 re f",
      entries: "/Rotate 180",
    });
    await expect(draw(rotated)).rejects.toThrow("lossless JPEG");
  });

  test("a picture within forms", async () => {
    const forms: SampleObject[] = [
      {
        dictionary: `/Type/XObject/Subtype/Form/BBox[0 0 60 40]/Resources<</XObject<</I ${FIRST + 1} 0 R>>>>`,
        data: `q ${WHOLE_PAGE} /I Do Q`,
      },
      {
        dictionary: `/Type/XObject/Subtype/Image/Width 60/Height 40/Filter/JPXDecode`,
        data: Buffer.alloc(900, "jP"),
      },
    ];
    const bytes = samplePdf([{ content: "/F Do", resources: `/XObject<</F ${FIRST} 0 R>>` }], forms);
    await expect(draw(bytes)).rejects.toThrow("JPEG 2000");
  });
});

describe("a page is drawn", () => {
  test.each<[title: string, data: () => Buffer, dictionary: string]>([
    ["with a JPEG", () => jpeg, `/Filter/DCTDecode${RGB}`],
    ["with a JPEG without its last bytes", () => jpeg.subarray(0, -20), `/Filter/DCTDecode${RGB}`],
    ["with a white picture", () => deflateSync(Buffer.alloc(7200, 255)), `/Filter/FlateDecode${RGB}`],
    ["with a black picture", () => deflateSync(Buffer.alloc(7200)), `/Filter/FlateDecode${RGB}`],
  ])("%s", async (_, data, dictionary) => {
    await draw(imagePage(data(), dictionary));
  });

  test("with much content and a small picture that cannot be decoded", async () => {
    const bytes = imagePage(Buffer.alloc(900, "jP"), "/Filter/JPXDecode", {
      place: "5 0 0 5 1 1 cm",
      before: "0 0 1 rg 10 10 40 25 re f",
    });
    expect((await draw(bytes)).includes(Buffer.of(0, 0, 255))).toBe(true);
  });

  test("with a dot beside a small picture that cannot be decoded", async () => {
    await draw(
      imagePage(Buffer.alloc(900, "jP"), "/Filter/JPXDecode", {
        place: "2 0 0 2 1 1 cm",
        before: ".9 g 40 30 .1 .1 re f",
      }),
    );
  });
});

describe("text of a page that is otherwise empty", () => {
  /** No machine has a font for it: the codes are glyphs of a font that is not there. */
  const LOST = "/Type/Font/Subtype/Type0/BaseFont/Lost/Encoding/Identity-H/DescendantFonts";
  const textPage = (text: string, more = "") =>
    samplePdf(
      [
        {
          content: `BT /F 14 Tf 4 14 Td ${more} ${text} Tj ET`,
          resources: `/Font<</F ${FIRST} 0 R/H ${FIRST + 2} 0 R>>`,
        },
      ],
      [
        `<<${LOST}[${FIRST + 1} 0 R]>>`,
        "<</Type/Font/Subtype/CIDFontType2/BaseFont/Lost/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>/DW 600>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
      ],
    );

  test("is refused when no font has its characters", async () => {
    await expect(draw(textPage("<e123e124>"))).rejects.toThrow(
      "its page 1 shows text in fonts that are neither in the file nor on this server",
    );
  });

  test.each([
    ["white", "/H 14 Tf 1 g (White)"],
    ["invisible", "3 Tr <e123e124>"],
    ["only spaces", "/H 14 Tf (   )"],
    ["outside the page", "/H 14 Tf 500 500 Td (Far)"],
  ])("leaves the page white when it is %s", async (_, text) => {
    expect((await draw(textPage("", text.replace("Tj", "")))).every((value) => value === 255)).toBe(true);
  });
});
