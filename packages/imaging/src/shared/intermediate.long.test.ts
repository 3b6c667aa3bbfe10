import type { ImageFormat, OriginalFacts, OriginalType, RenditionSpec } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { samplePdf } from "../../../../test/support/pdf-samples.ts";
import { photo } from "../../test/pictures.ts";
import { similarity } from "../../test/similarity.ts";
import { readPixels } from "../worker/libvips.ts";
import { writePsd } from "../worker/psd/write-psd.ts";

const renderer = createRenderer({ workers: 2 });
const direct = createRenderer({ workers: 1, intermediates: false });
afterAll(() => Promise.all([renderer.close(), direct.close()]));

/** An original, and a picture with the same pixels for libvips. */
interface Sample {
  type: OriginalType;
  bytes: Buffer;
  reference: Buffer;
}
type Name = "photo" | "wide gamut" | "alpha" | "16 bits" | "turned" | "screenshot" | "psd" | "gif";
let samples: Record<Name, Sample>;

/** Quick to make, with as many bytes as a PNG that is slow to decode. */
const STORED = { compressionLevel: 0 };

const PDF = "application/pdf";
const SVG = "image/svg+xml";

beforeAll(async () => {
  const picture = await sharp(await photo(2000, 1500))
    .png(STORED)
    .toBuffer();
  const png = (bytes: Buffer): Sample => ({ type: "image/png", bytes, reference: bytes });
  const disc = Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="1500"><ellipse cx="1000" cy="750" rx="900" ry="700" fill-opacity=".7"/></svg>',
  );
  const alpha = await sharp(picture)
    .ensureAlpha()
    .composite([{ input: disc, blend: "dest-in" }])
    .png(STORED)
    .toBuffer();
  const { pixels, ...raster } = await readPixels(sharp(alpha), "image/png", { maxPixels: 1e8 });
  const screenshot = sharp(Buffer.from(screen(3840, 2160)));
  const gif = await sharp(picture).resize(2200, 1650).gif({ effort: 1 }).toBuffer();
  samples = {
    photo: png(picture),
    "wide gamut": png(await sharp(picture).withIccProfile("p3").png(STORED).toBuffer()),
    alpha: png(alpha),
    "16 bits": png(await sharp(picture).toColourspace("rgb16").png(STORED).toBuffer()),
    turned: png(await sharp(picture).withMetadata({ orientation: 6 }).png(STORED).toBuffer()),
    screenshot: png(await screenshot.png().toBuffer()),
    psd: { type: "image/x-photoshop", bytes: writePsd(pixels, raster), reference: alpha },
    gif: { type: "image/gif", bytes: gif, reference: gif },
  };
});

/** Text, lines and flat colours. */
function screen(width: number, height: number): string {
  const rows = Array.from({ length: 40 }, (_, row) => {
    const y = 12 + row * 18;
    return `<rect y="${y}" width="1280" height="18" fill="${row % 2 ? "#fff" : "#eef2f7"}"/><text x="20" y="${y + 13}">${row} release-${row * 7}.tar.gz built on a quiet machine</text><path d="M0 ${y}h1280" stroke="#ccd"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 1280 720" font-size="12">${rows.join("")}</svg>`;
}

async function rendered(bytes: Buffer, type: OriginalType, spec: RenditionSpec, by = renderer) {
  return by.render({ bytes }, type, spec);
}

/** An independent reduction of the same picture to the size of `rendition`. */
async function reduced(reference: Buffer, rendition: Buffer): Promise<Buffer> {
  const { width, height } = await sharp(rendition).metadata();
  return sharp(reference, { autoOrient: true }).resize({ width, height, fit: "fill" }).png().toBuffer();
}

describe("a rendition made from an intermediate", () => {
  const names: Name[] = ["photo", "wide gamut", "alpha", "16 bits", "turned", "psd", "gif"];
  test.each(names)("has an SSIM of at least 0.995 against a direct rendition: %s", async (name) => {
    const { type, bytes, reference } = samples[name];
    for (const side of name === "photo" ? [64, 800, 1400, 1600] : [64, 300]) {
      const spec = { format: "png", maxWidth: side, maxHeight: side } as const;
      const out = await rendered(bytes, type, spec);
      const expected = await reduced(reference, out.bytes);
      expect(await sharp(out.bytes).metadata(), `${side}`).toMatchObject({
        space: "srgb",
        hasAlpha: (await sharp(reference).metadata()).hasAlpha,
        hasProfile: false,
      });
      expect(await similarity(out.bytes, expected), `${side}`).toBeGreaterThan(0.995);
    }
  });

  test("keeps transparency", async () => {
    const { type, bytes } = samples.alpha;
    const out = await rendered(bytes, type, { format: "png", maxWidth: 300 });
    const alphaOf = async (png: Buffer) => sharp(png).extractChannel(3).png().toBuffer();
    expect(
      await similarity(await alphaOf(out.bytes), await alphaOf(await reduced(bytes, out.bytes))),
    ).toBeGreaterThan(0.995);
  });

  test.each([
    ["PDF page", PDF],
    ["SVG", SVG],
  ] as const)("of a %s equals an averaged drawing of eight times the size", async (_, type) => {
    const bytes = type === PDF ? textPdf() : dearSvg();
    for (const side of [64, 300]) {
      const out = await rendered(bytes, type, { format: "png", maxWidth: side, maxHeight: side });
      const { width = 0, height = 0 } = await sharp(out.bytes).metadata();
      const large = await rendered(bytes, type, { format: "png", width: width * 8, height: height * 8 });
      const averaged = await sharp(large.bytes).resize(width, height, { fit: "fill" }).png().toBuffer();
      expect(await similarity(out.bytes, averaged), `${side}`).toBeGreaterThan(side === 64 ? 0.97 : 0.985);
    }
  });
});

/** Lines of text on a page of 600 by 800 points. */
function textPdf(): Buffer {
  const lines = Array.from({ length: 60 }, (_, line) => `(Line ${line} of a page of quiet text) Tj 0 -12 Td`);
  return samplePdf([
    {
      content: `BT /F 10 Tf 40 760 Td ${lines.join(" ")} ET`,
      entries: "/MediaBox[0 0 600 800]",
      resources: "/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>",
    },
  ]);
}

function dearSvg(): Buffer {
  const paths = Array.from(
    { length: 900 },
    (_, index) =>
      `<path d="M${(index * 37) % 800} ${(index * 61) % 600}q${index % 90} 40 ${index % 70} ${index % 50}z" fill="hsl(${index},60%,50%)" fill-opacity=".8"/>`,
  );
  return Buffer.from(
    `<svg xmlns="http://www.w3.org/2000/svg" width="800" height="600">${paths.join("")}</svg>`,
  );
}

describe("the first rendition, one from the intermediate, and one of a renderer without intermediates", () => {
  const formats: ImageFormat[] = ["png", "svg", "jpg", "gif", "webp", "avif", "psd", "pdf"];
  test.each([
    ["a photograph", "image/png", () => samples.photo.bytes],
    ["a PSD", "image/x-photoshop", () => samples.psd.bytes],
    ["a GIF", "image/gif", () => samples.gif.bytes],
    ["a PDF page", PDF, textPdf],
    ["an SVG", SVG, dearSvg],
  ] as const)("have the same bytes: %s", async (_, type, make) => {
    const bytes = make();
    const { pages, width, height } = await renderer.admit({ bytes }, type, {
      cleanedPath: "/nonexistent/never-written",
      keepMetadata: true,
    });
    const facts = { type, width, height, pages, size: bytes.length };
    for (const format of type === PDF ? formats : formats.slice(0, 2)) {
      for (const side of format === "png" ? [64, 448, 1216, 1600] : [333]) {
        const asked = { format, maxWidth: side, maxHeight: side };
        const spec = { ...asked, ...renderer.measure(facts, asked) };
        const first = await rendered(bytes, type, spec);
        expect(first.intermediate !== undefined, `${format} ${side}`).toBe(
          renderer.usesIntermediate?.(facts, spec),
        );
        if (format === "png") {
          const kept = await rendered(bytes, type, spec, direct);
          expect(kept.intermediate).toBeUndefined();
          expect(kept.bytes.equals(first.bytes), `${format} ${side}`).toBe(true);
        }
        if (first.intermediate === undefined) continue;
        const source = { bytes: first.intermediate };
        const next = await renderer.render(source, type, spec, { fromIntermediate: true });
        expect(next.bytes.equals(first.bytes), `${format} ${side}`).toBe(true);
        expect(next.intermediate).toBeUndefined();
      }
    }
  });
});

describe("usesIntermediate", () => {
  const at = (side: number, format: ImageFormat = "jpg"): RenditionSpec => ({
    format,
    maxWidth: side,
    maxHeight: side,
  });
  const uses = (facts: Partial<OriginalFacts>, spec: RenditionSpec, by = renderer) =>
    by.usesIntermediate?.(
      { type: "image/png", width: 4000, height: 3000, pages: 1, size: 20_000_000, ...facts },
      spec,
    );

  test("is true for originals that are slow to decode, but never for a JPEG", () => {
    expect(uses({}, at(800))).toBe(true);
    expect(uses({ type: "image/x-photoshop" }, at(800))).toBe(true);
    expect(uses({ type: "image/gif" }, at(800))).toBe(true);
    expect(uses({ type: PDF, width: 1191, height: 1684, size: 9000 }, at(800))).toBe(true);
    expect(uses({ type: SVG, width: 100, height: 100, size: 70_000 }, at(800))).toBe(true);
    expect(uses({ type: "image/jpeg" }, at(800))).toBe(false);
    expect(uses({ type: SVG, width: 100, height: 100, size: 5000 }, at(800))).toBe(false);
    expect(uses({ width: 1600, height: 1200, size: 3_000_000 }, at(800))).toBe(false);
    expect(uses({ width: 3840, height: 2160, size: 600_000 }, at(800))).toBe(false);
    expect(uses({ type: "image/gif", width: 640, height: 480, pages: 60 }, at(400))).toBe(false);
  });

  test("is true up to 1400 px, and for 1600 px, which is the intermediate itself", () => {
    expect(uses({}, at(1400))).toBe(true);
    expect(uses({}, at(1401))).toBe(false);
    expect(uses({}, at(1599))).toBe(false);
    expect(uses({}, at(1600))).toBe(true);
    expect(uses({}, at(1601))).toBe(false);
    expect(uses({}, { format: "jpg" })).toBe(false);
    expect(uses({ type: "image/x-photoshop", width: 1600, height: 1400 }, at(1500))).toBe(true);
  });

  test("is true up to 1100 px for a small original of 4:3, whose intermediate has 1.2 megapixels", () => {
    const small = { type: SVG, width: 1600, height: 1200, size: 650_000 } as const;
    expect(uses(small, at(1100))).toBe(true);
    expect(uses(small, at(1101))).toBe(false);
    expect(uses({ ...small, type: PDF }, at(1271))).toBe(true);
    expect(uses({ ...small, type: PDF }, at(1272))).toBe(false);
    expect(uses({ ...small, size: 2_500_000 }, at(1400))).toBe(true);
  });

  test("is false for vectors that stay vectors, and for animations", () => {
    for (const format of ["png", "jpg", "gif", "svg", "psd", "webp", "avif"] as const) {
      expect(uses({ type: PDF }, at(800, format)), format).toBe(true);
    }
    expect(uses({ type: PDF }, at(800, "pdf"))).toBe(false);
    expect(uses({ type: SVG }, at(800, "svg"))).toBe(false);
    expect(uses({ type: SVG }, at(800, "pdf"))).toBe(false);
    for (const format of ["gif", "webp", "svg"] as const) {
      expect(uses({ type: "image/gif", pages: 2 }, at(800, format)), format).toBe(false);
    }
    expect(uses({ type: "image/gif", pages: 2 }, at(800, "png"))).toBe(true);
  });

  test("is false for thin strips, for unknown sizes and for a renderer without intermediates", () => {
    expect(uses({ width: 60_000, height: 300 }, at(800))).toBe(false);
    expect(uses({ width: null, height: null }, at(800))).toBe(false);
    expect(uses({}, at(800), direct)).toBe(false);
  });
});

describe("rendering from an intermediate", () => {
  const spec = { format: "png", width: 300, height: 225 } as const;

  test.each([
    ["the original", () => samples.photo.bytes],
    ["nothing", () => Buffer.alloc(0)],
    ["no picture", () => Buffer.alloc(5000, "ORI1")],
    ["no deflated picture", () => Buffer.from(`ORI2${"\0\0\0d".repeat(2)}\u0003no deflated pixels`)],
  ])("rejects a source that is %s", async (_, make) => {
    const rendering = renderer.render({ bytes: make() }, "image/png", spec, { fromIntermediate: true });
    await expect(rendering).rejects.toMatchObject({ code: "unsupported_media" });
  });

  test.each([
    ["a photograph", "image/png", () => samples.photo.bytes],
    ["a PDF page", PDF, textPdf],
  ] as const)("rejects a truncated source: %s", async (_, type, make) => {
    const { intermediate = Buffer.alloc(0) } = await rendered(make(), type, spec);
    const source = { bytes: intermediate.subarray(0, -1) };
    const rendering = renderer.render(source, type, spec, { fromIntermediate: true });
    await expect(rendering).rejects.toMatchObject({ code: "unsupported_media" });
  });
});
