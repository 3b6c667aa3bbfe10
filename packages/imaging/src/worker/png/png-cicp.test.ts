import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  animatedPng,
  gammaChunk,
  P3_CHUNK,
  pngChunk,
  pngOf,
} from "../../../../../test/support/raster-files.ts";

const renderer = createRenderer({ timeoutMs: 60_000 });
afterAll(() => renderer.close());

function spoilt(chunk: Buffer): Buffer {
  const copy = Buffer.from(chunk);
  copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1);
  return copy;
}

/** The pixels of a PNG rendition, without alpha. */
async function levelsOf(bytes: Buffer): Promise<Buffer> {
  const rendition = await renderer.render({ bytes }, "image/png", { format: "png" });
  return sharp(rendition.bytes).toColourspace("srgb").removeAlpha().raw().toBuffer();
}

describe("cICP of a PNG", () => {
  const colours = [221, 51, 51, 51, 200, 60, 40, 60, 220, 128, 128, 128, 20, 20, 20, 230, 200, 180];
  const greys = [10, 51, 128, 200, 230, 250];
  let [rgb, grey]: Buffer[] = [];
  beforeAll(async () => {
    const row = (pixels: number[], channels: 1 | 3) =>
      sharp(Buffer.from(pixels), { raw: { width: 6, height: 1, channels } });
    rgb = await row(colours, 3).png().toBuffer();
    grey = await row(greys, 1).toColourspace("b-w").png().toBuffer();
  });

  /** A PNG with chunks directly after its header. */
  const withChunks = (png: Buffer | undefined, ...chunks: Buffer[]) => {
    const bytes = png ?? Buffer.alloc(0);
    return Buffer.concat([bytes.subarray(0, 33), ...chunks, bytes.subarray(33)]);
  };
  const cicp = (...values: number[]) => pngChunk("cICP", Buffer.from(values));
  const P3 = [241, 13, 38, 0, 204, 12, 34, 61, 229, 128, 128, 128, 20, 20, 20, 236, 199, 177];

  // As Chromium 156 draws them on a canvas of sRGB.
  test.each([
    [1, 13, [221, 51, 51, 51, 200, 60, 40, 60, 220, 128, 128, 128, 20, 20, 20, 230, 200, 180]],
    [4, 13, [255, 34, 32, 0, 196, 41, 0, 86, 226, 128, 128, 128, 20, 20, 20, 244, 198, 177]],
    [5, 13, [225, 51, 51, 24, 200, 64, 39, 60, 219, 128, 128, 128, 20, 20, 20, 231, 200, 180]],
    [6, 13, [215, 60, 50, 70, 197, 58, 48, 67, 221, 128, 128, 128, 20, 20, 20, 228, 200, 180]],
    [7, 13, [215, 60, 50, 70, 197, 58, 48, 67, 221, 128, 128, 128, 20, 20, 20, 228, 200, 180]],
    [8, 13, [251, 1, 37, 0, 205, 30, 22, 52, 227, 128, 128, 128, 20, 20, 20, 239, 199, 177]],
    [9, 13, [255, 0, 39, 0, 211, 0, 0, 58, 231, 128, 128, 128, 20, 20, 20, 248, 196, 177]],
    [10, 13, [255, 0, 78, 0, 255, 0, 0, 87, 233, 128, 128, 128, 20, 20, 20, 255, 162, 179]],
    [11, 13, [235, 14, 39, 0, 204, 12, 34, 59, 229, 128, 128, 128, 20, 20, 20, 234, 199, 177]],
    [12, 13, [241, 13, 38, 0, 204, 12, 34, 61, 229, 128, 128, 128, 20, 20, 20, 236, 199, 177]],
    [22, 13, [223, 61, 50, 37, 196, 59, 40, 73, 220, 128, 128, 128, 20, 20, 20, 231, 200, 180]],
    [1, 1, [219, 40, 40, 40, 197, 49, 28, 49, 218, 121, 121, 121, 7, 7, 7, 229, 197, 176]],
    [9, 1, [255, 0, 23, 0, 208, 0, 0, 46, 229, 121, 121, 121, 7, 7, 7, 248, 193, 172]],
    [1, 4, [222, 48, 48, 48, 201, 57, 35, 57, 221, 129, 129, 129, 12, 12, 12, 231, 201, 181]],
    [1, 5, [214, 27, 27, 27, 189, 36, 17, 36, 212, 106, 106, 106, 3, 3, 3, 224, 189, 165]],
    [1, 6, [219, 40, 40, 40, 197, 49, 28, 49, 218, 121, 121, 121, 7, 7, 7, 229, 197, 176]],
    [1, 7, [225, 69, 69, 69, 206, 77, 58, 77, 224, 141, 141, 141, 38, 38, 38, 233, 206, 188]],
    [9, 7, [255, 0, 61, 0, 217, 40, 0, 77, 234, 141, 141, 141, 38, 38, 38, 249, 203, 186]],
    [1, 8, [239, 124, 124, 124, 229, 133, 110, 133, 239, 188, 188, 188, 79, 79, 79, 244, 229, 219]],
    [1, 11, [219, 40, 40, 40, 197, 49, 28, 49, 218, 121, 121, 121, 7, 7, 7, 229, 197, 176]],
    [9, 14, [255, 0, 23, 0, 208, 0, 0, 46, 229, 121, 121, 121, 7, 7, 7, 248, 193, 172]],
    [9, 15, [255, 0, 23, 0, 208, 0, 0, 46, 229, 121, 121, 121, 7, 7, 7, 248, 193, 172]],
    [1, 17, [225, 35, 35, 35, 200, 44, 23, 44, 224, 118, 118, 118, 5, 5, 5, 235, 200, 177]],
  ])("with primaries %i and curve %i is applied as in Chromium", async (primaries, curve, shown) => {
    const levels = await levelsOf(withChunks(rgb, cicp(primaries, curve, 0, 1)));
    for (const [index, level] of levels.entries())
      expect(Math.abs(level - (shown[index] ?? 0))).toBeLessThan(2);
  });

  test.each([
    [1, [1, 40, 121, 197, 229, 250]],
    [5, [0, 27, 106, 189, 224, 249]],
    [8, [56, 124, 188, 229, 244, 253]],
    [13, greys],
  ])("with curve %i is applied to grey of 8 and 16 bits", async (curve, shown) => {
    const deep = await sharp(grey).toColourspace("grey16").png().toBuffer();
    for (const picture of [grey, deep]) {
      const levels = await levelsOf(withChunks(picture, cicp(9, curve, 0, 1)));
      for (const [index, level] of shown.entries()) {
        expect(Math.abs((levels[3 * index] ?? 0) - level), `${level}`).toBeLessThan(2);
      }
    }
  });

  test("is applied to 16 bits, transparency, a palette and animations, and is the same in all sizes and formats", async () => {
    const deep = await sharp(rgb).toColourspace("rgb16").png().toBuffer();
    const palette = await sharp(rgb).png({ palette: true }).toBuffer();
    const alpha = await sharp(rgb).ensureAlpha().png().toBuffer();
    for (const picture of [deep, palette, alpha, rgb]) {
      const bytes = withChunks(picture, cicp(12, 13, 0, 1));
      const levels = await levelsOf(bytes);
      for (const [index, level] of levels.entries())
        expect(Math.abs(level - (P3[index] ?? 0))).toBeLessThan(3);
    }
    const [moving, still] = [animatedPng(40), pngOf({ size: 40 })].map((bytes) =>
      withChunks(bytes, cicp(12, 13, 0, 1)),
    );
    expect(await levelsOf(moving ?? Buffer.alloc(0))).toEqual(await levelsOf(still ?? Buffer.alloc(0)));
    const flat = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#dd3333" } })
      .png()
      .toBuffer();
    const bytes = withChunks(flat, cicp(12, 13, 0, 1));
    for (const format of ["png", "jpg", "webp", "avif", "gif"] as const) {
      const rendition = await renderer.render({ bytes }, "image/png", { format, maxWidth: 32 });
      const pixel = await sharp(rendition.bytes).resize(1, 1).toColourspace("srgb").raw().toBuffer();
      for (const [index, level] of [241, 13, 38].entries()) {
        expect(Math.abs((pixel[index] ?? 0) - level), format).toBeLessThan(8);
      }
    }
  });

  test("overrules iCCP, sRGB, gAMA and cHRM, also where it says sRGB", async () => {
    const profiled = await sharp(rgb).withIccProfile("p3").png().toBuffer();
    const plain = await sharp(profiled).withIccProfile("p3").raw().toBuffer();
    const srgb = await levelsOf(withChunks(profiled, cicp(1, 13, 0, 1)));
    for (const [index, level] of srgb.entries())
      expect(Math.abs(level - (plain[index] ?? 0))).toBeLessThan(3);
    for (const chunk of [pngChunk("sRGB", Buffer.of(0)), gammaChunk(100_000), P3_CHUNK, cicp(9, 13, 0, 1)]) {
      const levels = await levelsOf(withChunks(rgb, cicp(12, 13, 0, 1), chunk));
      for (const [index, level] of levels.entries())
        expect(Math.abs(level - (P3[index] ?? 0))).toBeLessThan(2);
    }
  });

  test("with an HDR curve, unlawful or unknown values, or in a wrong place changes nothing", async () => {
    const ignored = [
      cicp(9, 16, 0, 1),
      cicp(9, 18, 0, 1),
      ...[cicp(12, 13, 1, 1), cicp(12, 13, 0, 0), cicp(12, 13, 0, 2)],
      ...[cicp(2, 13, 0, 1), cicp(12, 2, 0, 1), cicp(255, 255, 0, 1), cicp(0, 0, 0, 1)],
      ...[cicp(12, 13, 0), cicp(12, 13, 0, 1, 0), spoilt(cicp(12, 13, 0, 1))],
    ];
    for (const chunk of ignored) {
      expect(await levelsOf(withChunks(rgb, chunk))).toEqual(Buffer.from(colours));
    }
    const png = rgb ?? Buffer.alloc(0);
    const late = Buffer.concat([png.subarray(0, -12), cicp(12, 13, 0, 1), png.subarray(-12)]);
    expect(await levelsOf(late)).toEqual(Buffer.from(colours));
  });

  test("stays in the original", async () => {
    const bytes = withChunks(rgb, cicp(12, 13, 0, 1));
    const cleanedPath = "/nonexistent/never-written";
    expect(await renderer.admit({ bytes }, "image/png", { cleanedPath })).toMatchObject({ cleaned: null });
  });
});
