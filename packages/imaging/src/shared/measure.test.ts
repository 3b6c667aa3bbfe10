import type { ImageFormat, OriginalFacts, OriginalType, RenditionSpec, Size } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, describe, expect, test } from "vitest";
import { createRandom } from "../../../../test/hostile/random.ts";
import { samplePdf } from "../../../../test/support/pdf-samples.ts";
import { admitInfo } from "../../test/admit-bytes.ts";
import { animation, CORNERS } from "../../test/pictures.ts";
import { openPdf } from "../worker/pdf/open-pdf.ts";
import { writePsd } from "../worker/psd/write-psd.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
const small = createRenderer({ maxOutputPixels: 9000, workers: 1 });
afterAll(() => Promise.all([renderer.close(), small.close()]));

const FORMATS: ImageFormat[] = ["png", "jpg", "gif", "svg", "psd", "pdf", "webp", "avif"];
const TYPES: OriginalType[] = [
  "image/png",
  "image/jpeg",
  "image/gif",
  "image/svg+xml",
  "image/x-photoshop",
  "application/pdf",
];

function facts(type: OriginalType, more: Partial<OriginalFacts> = {}): OriginalFacts {
  return { type, width: 4000, height: 3000, pages: 1, size: 3_000_000, ...more };
}

describe.each(TYPES)("the boxes 800x, 800x600, x600 and 800x8192 give one size of %s", (type) => {
  test.each(FORMATS)("as %s", (format) => {
    const boxes = [
      { maxWidth: 800 },
      { maxWidth: 800, maxHeight: 600 },
      { maxHeight: 600 },
      { maxWidth: 800, maxHeight: 8192 },
    ];
    for (const box of boxes) {
      expect(renderer.measure(facts(type), { format, ...box })).toEqual({ width: 800, height: 600 });
    }
  });
});

describe("boxes beyond a limit give one size", () => {
  test.each([
    ["gif", { width: 2309, height: 1732 }],
    ["webp", { width: 4000, height: 3000 }],
    ["avif", { width: 2828, height: 2121 }],
  ] as const)("of a raster as %s", (format, expected) => {
    for (const maxWidth of [expected.width, expected.width + 2, 3999, 4000, 8192]) {
      const size = renderer.measure(facts("image/png"), { format, maxWidth });
      if (maxWidth === 3999 && format === "webp") expect(size).toEqual({ width: 3999, height: 2999 });
      else expect(size, `${maxWidth}`).toEqual(expected);
    }
    expect(renderer.measure(facts("image/png"), { format })).toEqual(expected);
  });
});

describe("pages of a PDF", () => {
  const sizes = [
    [1, 1190, 1684],
    [3, 1684, 1190],
    [4, 0, 0],
    [5, 100, 100],
  ] as const;
  const document = facts("application/pdf", { width: 1190, height: 1684, pages: 9, pageSizes: sizes });
  const measured = (page: number, of = document) =>
    renderer.measure(of, { format: "png", page, maxWidth: 500, maxHeight: 500 });

  test("have the sizes in the image's record", () => {
    expect(measured(1)).toEqual({ width: 353, height: 500 });
    expect(measured(2)).toEqual({ width: 353, height: 500 });
    expect(measured(3)).toEqual({ width: 500, height: 353 });
    expect(measured(9)).toEqual({ width: 500, height: 500 });
  });

  test("have no size when the record does not tell it, or beyond the last page", () => {
    expect(measured(4)).toBeNull();
    expect(measured(10)).toBeNull();
    const { pageSizes: _, ...earlier } = document;
    expect(measured(2, earlier)).toBeNull();
    expect(measured(1, earlier)).toEqual({ width: 353, height: 500 });
  });
});

async function originalOf(type: OriginalType, { width, height }: Size): Promise<Buffer> {
  const pixels = Buffer.alloc(width * height * 3, 120);
  const image = sharp(pixels, { raw: { width, height, channels: 3 } });
  switch (type) {
    case "image/png":
      return image.png().toBuffer();
    case "image/jpeg":
      return image.jpeg().toBuffer();
    case "image/gif":
      return animation(width, height, CORNERS.slice(2), { delay: [50, 50], loop: 0 });
    case "image/svg+xml":
      return Buffer.from(
        `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><path d="M0 0h5v9z"/></svg>`,
      );
    case "image/x-photoshop":
      return writePsd(pixels, { width, height, channels: 3 });
    case "application/pdf":
      return samplePdf([{ entries: `/MediaBox[0 0 ${width / 2} ${height / 2}]` }, {}]);
  }
}

async function sizeIn(bytes: Buffer, format: ImageFormat): Promise<Size> {
  if (format === "psd") return { width: bytes.readUInt32BE(18), height: bytes.readUInt32BE(14) };
  if (format === "pdf") {
    // Two pixels per point when read, one when written.
    const { natural } = await openPdf(bytes, { maxPixels: 1e6 });
    return { width: natural.width / 2, height: natural.height / 2 };
  }
  if (format === "svg") {
    const [, width, height] = /<svg[^>]*? width="(\d+)" height="(\d+)"/.exec(bytes.toString("latin1")) ?? [];
    return { width: Number(width), height: Number(height) };
  }
  const { width, height, pageHeight } = await sharp(bytes, { animated: true }).metadata();
  return { width, height: pageHeight ?? height };
}

test.each(TYPES)("a rendition of %s has the measured size in every format", async (type) => {
  const { below } = createRandom(14);
  const upTo = (most: number) => 1 + below(most);
  const bytes = await originalOf(type, { width: upTo(300), height: upTo(200) });
  const original = { ...(await admitInfo(small, { bytes }, type)), type, size: bytes.length };
  for (const format of FORMATS) {
    const box = { maxWidth: upTo(150), maxHeight: upTo(150) };
    for (const asked of [{ format, ...box }, { format }] satisfies RenditionSpec[]) {
      const size = small.measure(original, asked);
      // A whole PDF keeps its pages with their sizes; scaling it rounds nothing.
      if (size === null || (type === "application/pdf" && format === "pdf")) continue;
      const what = `${original.width} × ${original.height} as ${JSON.stringify(asked)}`;
      for (const spec of [asked, { format, ...size }]) {
        const { bytes: rendition } = await small.render({ bytes }, type, spec);
        expect(await sizeIn(rendition, format), what).toEqual(size);
      }
    }
  }
});
