import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { beforeAll, describe, expect, test } from "vitest";
import {
  firstObjectOf,
  type SampleObject,
  type SamplePage,
  samplePdf,
} from "../../../../../test/support/pdf-samples.ts";
import type { Rgb } from "../../../test/pictures.ts";
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

  test("a page half filled by a lossless JPEG is refused", async () => {
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

  test("a page whose undecodable picture is within forms is refused", async () => {
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

const WHITE: Rgb = [255, 255, 255];

/** The colour at a point of a page of 60 by 40 points, measured from its upper left corner. */
async function colourAt(bytes: Buffer, x = 30, y = 20): Promise<Rgb> {
  const pixels = await usePdfDocument(bytes, (document) => drawPage(document, 0, { width: 60, height: 40 }));
  const [red = -1, green = -1, blue = -1] = pixels.subarray((y * 60 + x) * 3);
  return [red, green, blue];
}

function page(content: string, more: Omit<SamplePage, "content"> = {}, objects: SampleObject[] = []): Buffer {
  return samplePdf([{ content, ...more }], objects);
}

test("drawPage returns rows without padding", async () => {
  const bytes = page("1 0 0 rg 0 0 30 40 re f 0 0 1 rg 30 0 30 40 re f");
  const pixels = await usePdfDocument(bytes, (document) => drawPage(document, 0, { width: 6, height: 2 }));
  const row = [...Array(3).fill([255, 0, 0]), ...Array(3).fill([0, 0, 255])].flat();
  expect([...pixels]).toEqual([...row, ...row]);
});

describe("annotations", () => {
  const box: SampleObject = {
    dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]",
    data: "0 0 1 rg 0 0 10 10 re f",
  };
  const annotated = (annotation: string) =>
    page("", { entries: `/Annots[${FIRST} 0 R]` }, [`<</Type/Annot/Rect[20 10 40 30]${annotation}>>`, box]);

  test.each([
    ["with an appearance", `/Subtype/Stamp/AP<</N ${FIRST + 1} 0 R>>`, [0, 0, 255]],
    ["without one", "/Subtype/Square/IC[0 1 0]/C[0 1 0]", [0, 255, 0]],
    ["that are hidden", `/Subtype/Stamp/F 2/AP<</N ${FIRST + 1} 0 R>>`, WHITE],
    ["that are links", "/Subtype/Link/Border[0 0 0]", WHITE],
  ] as [string, string, Rgb][])("are drawn as on screen: %s", async (_, annotation, colour) => {
    expect(await colourAt(annotated(annotation))).toEqual(colour);
  });
});

describe("form fields", () => {
  const withField = (field: string, catalogue = "") =>
    samplePdf(
      [{ entries: `/Annots[${FIRST} 0 R]` }],
      [
        `<</Type/Annot/Subtype/Widget/Rect[10 10 50 30]/F 4/T(field)${field}>>`,
        { dictionary: "/Type/XObject/Subtype/Form/BBox[0 0 10 10]", data: "0 0 1 rg 0 0 10 10 re f" },
      ],
      {
        catalogue:
          `/AcroForm<</Fields[${FIRST} 0 R]/DA(/Helv 0 Tf 0 g)` +
          `/DR<</Font<</Helv<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>${catalogue}`,
      },
    );

  test("without an appearance are drawn with their value and background, not highlighted", async () => {
    const field = withField("/FT/Tx/V(MMMM)/DA(/Helv 14 Tf 1 0 0 rg)/MK<</BG[.9 .9 1]>>");
    expect(await colourAt(field, 48, 28)).toEqual([230, 230, 255]);
    const pixels = await usePdfDocument(field, (document) =>
      drawPage(document, 0, { width: 60, height: 40 }),
    );
    const isRed = (_: number, index: number) =>
      index % 3 === 0 && (pixels[index] ?? 0) > 220 && (pixels[index + 1] ?? 0) < 60;
    expect(pixels.filter(isRed).length).toBeGreaterThan(20);
    expect(await colourAt(withField("/FT/Tx"))).toEqual(WHITE);
  });

  test("are not changed by JavaScript", async () => {
    const script = "/S/JavaScript/JS(this.getField\\('field'\\).fillColor = color.red; app.alert\\('x'\\);)";
    const field = withField(
      `/FT/Tx/V(x)/AP<</N ${FIRST + 1} 0 R>>/AA<</C<<${script}>>/F<<${script}>>>>`,
      `/OpenAction<<${script}>>/Names<</JavaScript<</Names[(a)<<${script}>>]>>>>`,
    );
    expect(await colourAt(field)).toEqual([0, 0, 255]);
  });
});
