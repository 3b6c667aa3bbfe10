import { ServiceError } from "@outrigger/core";
import { expect, test } from "vitest";
import { QUARTERS, samplePdf } from "../../../../../test/support/pdf-samples.ts";
import { openPdf } from "./open-pdf.ts";
import { MAX_HEAP_BYTES, type Pdfium, usePdfium } from "./pdfium.ts";

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
  await expect(openPdf(Buffer.from("%PDF-1.4 nothing"), limits)).rejects.toThrow("damaged beyond repair");
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
    message: "This cannot be read as application/pdf: it crashes the PDF reader.",
    cause: expect.any(RangeError),
  });
  expect(await instance()).not.toBe(first);
});

test("a failed allocation is reported even if PDFium continues without it", async () => {
  const first = await instance();
  await expect(usePdfium(({ pdfium }) => pdfium.wasmExports.malloc(MAX_HEAP_BYTES))).rejects.toMatchObject({
    code: "unsupported_media",
    message: "This cannot be read as application/pdf: it needs too much memory.",
  });
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
