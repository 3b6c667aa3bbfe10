import { ServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { encryptedPdf, QUARTERS, restrictedPdf, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { cornersOf, type Rgb } from "../../../test/pictures.ts";
import { unreadable } from "../../../test/unreadable.ts";
import type { DecodeOptions } from "../picture.ts";
import { listPageSizes, openPdf } from "./open-pdf.ts";
import { MAX_HEAP_BYTES, type Pdfium, usePdfium } from "./pdfium.ts";

const MAX_PIXELS = 25_000_000;

const RED: Rgb = [255, 0, 0];
const GREEN: Rgb = [0, 255, 0];
const BLUE: Rgb = [0, 0, 255];
const YELLOW: Rgb = [255, 255, 0];

async function drawn(bytes: Buffer, options: DecodeOptions & { page?: number; maxPixels?: number } = {}) {
  const { page, maxPixels = MAX_PIXELS, ...decoding } = options;
  const picture = await openPdf(bytes, { maxPixels, ...(page === undefined ? {} : { page }) });
  const { data, info } = await (await picture.decode(decoding)).png().toBuffer({ resolveWithObject: true });
  return {
    natural: [picture.natural.width, picture.natural.height],
    size: [info.width, info.height],
    channels: info.channels,
    corners: await cornersOf(data),
  };
}

test("openPdf gives a page two pixels per point", async () => {
  const bytes = samplePdf([{ content: QUARTERS }, {}, {}]);
  const { decode, ...facts } = await openPdf(bytes, { maxPixels: MAX_PIXELS });
  expect(facts).toEqual({ natural: { width: 120, height: 80 }, frames: 1, pages: 3, scalable: true });
  expect(await drawn(bytes)).toEqual({
    natural: [120, 80],
    size: [120, 80],
    channels: 3,
    corners: [RED, GREEN, BLUE, YELLOW],
  });
});

test.each([
  ["/Rotate 90", [80, 120], [YELLOW, RED, GREEN, BLUE]],
  ["/Rotate 180", [120, 80], [BLUE, YELLOW, RED, GREEN]],
  ["/Rotate 270", [80, 120], [GREEN, BLUE, YELLOW, RED]],
  ["/Rotate -90", [80, 120], [GREEN, BLUE, YELLOW, RED]],
  ["/CropBox[0 0 30 40]", [60, 80], [RED, RED, YELLOW, YELLOW]],
  ["/CropBox[0 20 60 40]/Rotate 90", [40, 120], [RED, RED, GREEN, GREEN]],
  ["/CropBox[-50 20 500 900]", [120, 40], [RED, GREEN, GREEN, RED]],
  ["/MediaBox[30 0 60 40]", [60, 80], [GREEN, GREEN, BLUE, BLUE]],
  ["/MediaBox[60 40 0 0]", [120, 80], [RED, GREEN, BLUE, YELLOW]],
  // PDFium ignores it; 4 pixels per point would be correct.
  ["/UserUnit 2", [120, 80], [RED, GREEN, BLUE, YELLOW]],
] as const)("openPdf applies %s to the visible part of a page", async (entries, size, corners) => {
  const bytes = samplePdf([{ content: QUARTERS, entries }]);
  expect(await drawn(bytes)).toMatchObject({ natural: size, size, corners });
});

test("openPdf rounds fractions of a point, to at least one pixel", async () => {
  const size = async (box: string) =>
    (await openPdf(samplePdf([{ entries: `/MediaBox[${box}]` }]), { maxPixels: 99 })).natural;
  expect(await size("0 0 595.28 841.89")).toEqual({ width: 1191, height: 1684 });
  expect(await size("0 0 .1 5")).toEqual({ width: 1, height: 10 });
});

describe("pages of a PDF", () => {
  const bytes = samplePdf([
    { content: QUARTERS },
    { content: QUARTERS, entries: "/MediaBox[0 0 30 20]" },
    { content: QUARTERS, entries: "/MediaBox[0 20 60 30]" },
  ]);

  test("are drawn by number, each with its size", async () => {
    expect(await drawn(bytes, { page: 2 })).toMatchObject({ size: [60, 40], corners: Array(4).fill(YELLOW) });
    expect(await drawn(bytes, { page: 3 })).toMatchObject({
      size: [120, 20],
      corners: [RED, GREEN, GREEN, RED],
    });
  });

  test("that do not exist reject with bad_request", async () => {
    await expect(openPdf(bytes, { page: 4, maxPixels: MAX_PIXELS })).rejects.toMatchObject({
      code: "bad_request",
      message: "page must be at most 3.",
    });
  });
});

describe("a PDF page is drawn at", () => {
  const bytes = samplePdf([{ content: QUARTERS }]);

  test.each([
    [6, 4],
    [1, 1],
    [1200, 800],
    [120, 300],
    [101, 67],
  ])("%i by %i pixels", async (width, height) => {
    const picture = await drawn(bytes, { drawnAs: { width, height } });
    expect(picture.size).toEqual([width, height]);
    if (width > 1) expect(picture.corners).toEqual([RED, GREEN, BLUE, YELLOW]);
  });

  test("a size scaled down to maxPixels", async () => {
    expect(await drawn(bytes, { maxPixels: 600 })).toMatchObject({
      size: [30, 20],
      corners: [RED, GREEN, BLUE, YELLOW],
    });
  });

  test("the size of a huge page, without holding all of it in memory", async () => {
    const large = samplePdf([
      { content: `240 0 0 360 0 0 cm ${QUARTERS}`, entries: "/MediaBox[0 0 14400 14400]" },
    ]);
    const picture = await drawn(large);
    expect(picture).toMatchObject({ natural: [28_800, 28_800], size: [5000, 5000] });
    expect(picture.corners).toEqual([RED, GREEN, BLUE, YELLOW]);
  });
});

test("a large page drawn in strips has no seams", async () => {
  const lines = Array.from({ length: 40 }, (_, index) => `${index} 0 m ${60 - index} 40 l S`).join(" ");
  const bytes = samplePdf([{ content: `.2 w ${lines}` }]);
  const picture = await openPdf(bytes, { maxPixels: MAX_PIXELS });
  const read = async (width: number, height: number) => {
    const image = await picture.decode({ drawnAs: { width, height } });
    return await image.resize({ width: 600, height: 400, fit: "fill" }).raw().toBuffer();
  };
  // 15 megapixels in four strips against 2 in one.
  const [whole, strips] = [await read(1800, 1200), await read(4800, 3200)];
  let most = 0;
  for (const [index, value] of whole.entries()) most = Math.max(most, Math.abs(value - (strips[index] ?? 0)));
  expect(most).toBeLessThan(24);
});

describe("an encrypted PDF", () => {
  test("that needs a password is refused", async () => {
    await expect(openPdf(encryptedPdf, { maxPixels: MAX_PIXELS })).rejects.toThrow(
      unreadable("application/pdf", "it is protected by a password"),
    );
  });

  test("that only restricts its use is opened", async () => {
    expect(await drawn(restrictedPdf)).toMatchObject({ size: [60, 40], corners: Array(4).fill(RED) });
  });
});

const box = (width: number, height: number) => ({ entries: `/MediaBox[0 0 ${width} ${height}]` });

test("listPageSizes returns one run for pages of equal size", async () => {
  const pdf = samplePdf([box(100, 200), box(100, 200), box(200, 100), box(100, 200)]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [3, 400, 200],
    [4, 200, 400],
  ]);
});

test("listPageSizes returns the sizes of the rotated crop boxes", async () => {
  const pdf = samplePdf([box(100, 200), { entries: "/MediaBox[0 0 300 300]/CropBox[0 0 50 60]/Rotate 90" }]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [2, 120, 100],
  ]);
});

test("listPageSizes returns 0 by 0 for a page without area, and sizes for later pages", async () => {
  const pdf = samplePdf([box(100, 200), box(300_000, 300_000), box(100, 200)]);
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 400],
    [2, 0, 0],
    [3, 200, 400],
  ]);
});

test("listPageSizes returns at most 32 runs and omits later pages", async () => {
  const pdf = samplePdf(Array.from({ length: 100 }, (_, page) => box(100 + page, 100)));
  const sizes = await listPageSizes(pdf);
  expect(sizes).toHaveLength(32);
  expect(sizes.at(-2)).toEqual([31, 260, 200]);
  expect(sizes.at(-1)).toEqual([32, 0, 0]);
});

test("listPageSizes does not measure pages after the 2000th", async () => {
  const pdf = samplePdf(Array.from({ length: 2010 }, () => box(100, 100)));
  expect(await listPageSizes(pdf)).toEqual([
    [1, 200, 200],
    [2001, 0, 0],
  ]);
});

const limits = { maxPixels: 25_000_000 };

async function draw(bytes: Buffer, drawnAs = { width: 120, height: 80 }): Promise<Buffer> {
  return (await (await openPdf(bytes, limits)).decode({ drawnAs })).raw().toBuffer();
}

/** The instance that calls currently use. */
function instance(): Promise<Pdfium> {
  return usePdfium((pdfium) => pdfium);
}

const heapBytes = async (): Promise<number> => (await instance()).pdfium.HEAPU8.length;

test("one PDFium instance serves many documents without leaking memory", async () => {
  const font = "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Times-Roman>>>>";
  const documents = ["q", "Q BT", "BT /F 9 Tf 5 5 Td (Text) Tj ET", QUARTERS].map((content) =>
    samplePdf([{ content, resources: font }], []),
  );
  const drawAll = async () => {
    for (const bytes of documents) await draw(bytes, { width: 900, height: 600 });
  };
  await drawAll();
  const first = await instance();
  const bytes = await heapBytes();
  for (let round = 0; round < 15; round++) await drawAll();
  expect(await instance()).toBe(first);
  expect(await heapBytes()).toBe(bytes);
});

test("a refused document does not discard the PDFium instance", async () => {
  const first = await instance();
  await expect(openPdf(Buffer.from("%PDF-1.4 nothing"), limits)).rejects.toThrow("The file is damaged");
  await expect(openPdf(samplePdf([{}]), { ...limits, page: 2 })).rejects.toThrow("at most 1");
  expect(await instance()).toBe(first);
});

test("a crashed PDFium instance is never called again", async () => {
  const first = await instance();
  const failing = usePdfium(() => {
    throw new RangeError("Maximum call stack size exceeded");
  });
  await expect(failing).rejects.toMatchObject({
    code: "unsupported_media",
    message: "The file is damaged or incomplete.",
    cause: expect.any(RangeError),
  });
  expect(await instance()).not.toBe(first);
});

test("a failed allocation is reported even if PDFium continues without it", async () => {
  const first = await instance();
  await expect(usePdfium(({ pdfium }) => pdfium.wasmExports.malloc(MAX_HEAP_BYTES))).rejects.toThrow(
    unreadable("application/pdf", "it needs too much memory"),
  );
  expect(await instance()).not.toBe(first);
});

test("a PDFium instance that has grown large is discarded", async () => {
  const first = await instance();
  await usePdfium(({ pdfium: { wasmExports } }) => wasmExports.free(wasmExports.malloc(150 * 1024 ** 2)));
  expect(await instance()).not.toBe(first);
  expect(await heapBytes()).toBeLessThan(32 * 1024 ** 2);
});

test("concurrent calls of PDFium do not interfere", async () => {
  await usePdfium(() => {
    throw new Error("so that all of them have to start an instance");
  }).catch((error: unknown) => expect(error).toBeInstanceOf(ServiceError));
  const bytes = samplePdf([{ content: QUARTERS }]);
  const failing = expect(
    usePdfium(() => {
      throw new Error("among them");
    }),
  ).rejects.toMatchObject({ code: "unsupported_media" });
  const drawings = await Promise.all(Array.from({ length: 5 }, () => draw(bytes)));
  await failing;
  expect(new Set(drawings.map((pixels) => pixels.toString("base64"))).size).toBe(1);
});
