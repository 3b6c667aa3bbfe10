import { gzipSync } from "node:zlib";
import { srcSet } from "@outrigger/client";
import type { OriginalFacts } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import { build } from "esbuild";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";

const renderer = createRenderer();
afterAll(() => renderer.close());

const FORMATS = ["webp", "avif", "jpg", "png", "gif"] as const;
const TYPES = [
  ...(["image/png", "image/jpeg", "image/gif", "image/svg+xml"] as const),
  ...(["image/x-photoshop", "application/pdf"] as const),
];

const images: fc.Arbitrary<OriginalFacts> = fc.record({
  size: fc.constant(1),
  type: fc.constantFrom(...TYPES),
  width: fc.integer({ min: 1, max: 30_000 }),
  height: fc.integer({ min: 1, max: 30_000 }),
  pages: fc.integer({ min: 1, max: 60 }),
});
const widths = fc.array(fc.integer({ min: 1, max: 8192 }), { minLength: 1, maxLength: 8 });

test("every candidate of srcSet is as wide as the renderer will make it, and the widest one is the widest possible", () => {
  const check = (image: OriginalFacts, asked: number[], format: (typeof FORMATS)[number]) => {
    const given = { ...image, baseUrl: "", id: "Yk3fPq0bT1mVxR8aZ2cLdw" };
    const told = [...srcSet(given, { widths: asked, format }).srcSet.matchAll(/resize=(\d+)x (\d+)w/g)];
    const made = asked.map((maxWidth) => renderer.measure(image, { format, maxWidth })?.width);
    expect(told.map(([, , width]) => Number(width))).toEqual(
      [...new Set(made)].sort((a, b) => Number(a) - Number(b)),
    );
    for (const [, maxWidth, width] of told) {
      expect(renderer.measure(image, { format, maxWidth: Number(maxWidth) })?.width).toBe(Number(width));
    }
  };
  fc.assert(fc.property(images, widths, fc.constantFrom(...FORMATS), check), { seed: 19, numRuns: 5_000 });
});

test("every candidate of srcSet with a ratio is as large as the renderer will make it", () => {
  const check = (
    image: OriginalFacts,
    asked: number[],
    { format, ratio, fit }: { format: (typeof FORMATS)[number]; ratio: number; fit: "cover" | "pad" },
  ) => {
    const given = { ...image, baseUrl: "", id: "Yk3fPq0bT1mVxR8aZ2cLdw" };
    // A picture without a single pixel column of this ratio.
    fc.pre(Math.min(Number(image.width), Number(image.height) * ratio) >= 1);
    const { srcSet: candidates, width, height } = srcSet(given, { widths: asked, format, ratio, fit });
    const told = [...candidates.matchAll(/resize=(\d+)x(\d+)&fit=\w+ (\d+)w/g)];
    expect(told.length).toBeGreaterThan(0);
    for (const [, maxWidth, maxHeight, w] of told) {
      expect(w).toBe(maxWidth);
      const size = { width: Number(maxWidth), height: Number(maxHeight) };
      const box = { maxWidth: size.width, maxHeight: size.height };
      expect(renderer.measure(image, { format, fit, ...box })).toMatchObject(size);
    }
    expect([`${width}`, `${height}`]).toEqual(told.at(-1)?.slice(1, 3));
  };
  const crops = fc.record({
    format: fc.constantFrom(...FORMATS),
    // Of drawings with an extreme ratio the renderer cuts smaller parts.
    ratio: fc.double({ min: 0.05, max: 20, noNaN: true }),
    fit: fc.constantFrom("cover", "pad"),
  });
  const usual = images.filter(({ width, height }) => {
    const ratio = Number(width) / Number(height);
    return ratio > 0.05 && ratio < 20;
  });
  fc.assert(fc.property(usual, widths, crops, check), { seed: 22, numRuns: 5_000 });
});

/** Bytes of a bundle that uses `what` of the client, minified and compressed. */
async function weightOf(what: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: `export { ${what} } from "@outrigger/client";`, resolveDir: import.meta.dirname },
    ...{ bundle: true, minify: true, write: false, format: "esm", platform: "browser", target: "es2022" },
  });
  return gzipSync(outputFiles[0]?.contents ?? "").length;
}

test("srcSet alone weighs less than 2.7 kB compressed in a bundle for browsers, and the images client less than 8 kB", async () => {
  expect(await weightOf("srcSet")).toBeLessThan(2_700);
  expect(await weightOf("createImagesClient")).toBeLessThan(8_000);
});
