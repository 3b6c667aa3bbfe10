import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nclx, profileContent, withColour } from "../../../../test/support/coded-colours.ts";
import { halvesHeic, transparentHeic, twoPicturesHeic } from "../../../../test/support/heic-samples.ts";
import { createTiff, Photometric } from "./psd/tiff.ts";

const renderer = createRenderer({ workers: 1, timeoutMs: 60_000 });
let directory: string;
let p3: Buffer;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-colours-"));
  const tagged = await columns().withIccProfile("p3").png().toBuffer();
  p3 = (await sharp(tagged).metadata()).icc ?? Buffer.alloc(0);
});
afterAll(async () => {
  await renderer.close();
  await rm(directory, { recursive: true });
});

/** The colours of all pictures, and what Display P3 makes of them. */
const COLOURS = [221, 51, 51, 51, 200, 60, 40, 60, 220, 128, 128, 128, 20, 20, 20, 230, 200, 180];
const OF_P3 = [242, 12, 38, 0, 204, 12, 34, 61, 228, 128, 128, 128, 20, 20, 20, 237, 199, 178];

/** Columns of the colours, each as wide as a block of a JPEG. */
function columns(alpha?: number) {
  const row = sharp(Buffer.from(COLOURS), { raw: { width: 6, height: 1, channels: 3 } });
  const image = row.resize(48, 16, { kernel: "nearest", fit: "fill" });
  return alpha === undefined ? image : image.ensureAlpha(alpha);
}

const avif = (bitdepth: 8 | 10 | 12 = 8, alpha?: number) =>
  columns(alpha).avif({ lossless: true, effort: 0, bitdepth }).toBuffer();

/** Converts an upload. @returns what is found, and the stored pixels in the middle of each column. */
async function convert(bytes: Buffer, type: "image/avif" | "image/heic" | "image/tiff" = "image/avif") {
  const cleanedPath = join(directory, crypto.randomUUID());
  const { type: stored, warnings = [] } = await renderer.admit({ bytes }, type, { cleanedPath });
  const file = await readFile(cleanedPath);
  expect((await sharp(file).metadata()).icc).toBeUndefined();
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  const pixels = [0, 1, 2, 3, 4, 5].flatMap((column) => {
    const at = ((info.height >> 1) * info.width + Math.floor(((column + 0.5) * info.width) / 6)) * 3;
    return [...data.subarray(at, at + 3)];
  });
  return { stored, warnings, pixels, file };
}

function expectNear(actual: readonly number[], expected: readonly number[], by = 4): void {
  const differences = expected.map((value, index) => Math.abs(value - (actual[index] ?? Number.NaN)));
  expect(Math.max(...differences), `${actual} is not near ${expected}`).toBeLessThanOrEqual(by);
}

// As Chromium 156 draws such an AVIF.
test.each<readonly [primaries: number, curve: number, shown: readonly number[]]>([
  [1, 13, COLOURS],
  [2, 2, COLOURS],
  [12, 13, OF_P3],
  [12, 2, OF_P3],
  [11, 17, [241, 0, 11, 0, 204, 0, 14, 42, 232, 118, 118, 118, 5, 5, 5, 242, 199, 175]],
  [4, 4, [255, 27, 25, 0, 197, 36, 0, 85, 226, 129, 129, 129, 12, 12, 12, 246, 199, 180]],
  [9, 13, [255, 0, 39, 0, 212, 0, 0, 58, 231, 128, 128, 128, 20, 20, 20, 246, 197, 176]],
  [1, 7, [225, 69, 70, 69, 206, 77, 58, 77, 223, 141, 141, 141, 38, 38, 38, 233, 206, 189]],
  [1, 8, [239, 124, 125, 124, 229, 132, 110, 133, 238, 188, 188, 188, 79, 79, 79, 244, 229, 219]],
  // Video is shown as sRGB.
  ...[1, 6, 14, 15].map((curve) => [1, curve, COLOURS] as const),
  // Unknown code points.
  [3, 13, COLOURS],
  [12, 99, COLOURS],
])("code points %i and %i of an AVIF are stored as Chromium draws them", async (primaries, curve, shown) => {
  const { pixels, warnings, stored } = await convert(withColour(await avif(), nclx(primaries, curve)));
  expectNear(pixels, shown);
  expect([stored, warnings]).toEqual(["image/jpeg", []]);
});

test("code points of the picture, but not of its mask, are applied to deep and transparent pictures", async () => {
  const p3Codes = nclx(12, 13);
  for (const depth of [10, 12] as const) {
    const { pixels, warnings } = await convert(withColour(await avif(depth), p3Codes));
    expectNear(pixels, OF_P3);
    expect(warnings).toEqual(["depth_reduced"]);
  }
  for (const depth of [8, 10] as const) {
    const glass = await convert(withColour(await avif(depth, 0.5), p3Codes));
    expectNear(glass.pixels, OF_P3);
    expect(glass.stored).toBe("image/png");
    const alpha = await sharp(glass.file).extractChannel("alpha").raw().toBuffer();
    expectNear([...alpha], Array<number>(alpha.length).fill(128), 1);
  }
  // The mask has a colour of its own, which does not count.
  const masked = withColour(await avif(8, 0.5), nclx(9, 16), [2]);
  expect((await convert(masked)).warnings).toEqual([]);
});

test("code points of a sequence are applied to its first frame", async () => {
  const sequence = withColour(await avif(), nclx(12, 13));
  sequence.write("avis", 8, "latin1");
  const { pixels, warnings } = await convert(sequence);
  expectNear(pixels, OF_P3);
  expect(warnings).toEqual(["first_frame_only"]);
});

test("a profile overrules code points, also with 10 and 12 bits", async () => {
  for (const kind of ["prof", "rICC"] as const) {
    for (const depth of [8, 10, 12] as const) {
      const both = withColour(withColour(await avif(depth), nclx(9, 8)), profileContent(p3, kind));
      expectNear((await convert(both)).pixels, OF_P3);
    }
  }
});

test("a deep TIFF with a profile is stored in sRGB", async () => {
  const layout = { width: 6, height: 1, bitsPerSample: 16, photometric: Photometric.rgb } as const;
  const deep = createTiff({ ...layout, samplesPerPixel: 3, planar: false, alpha: false, iccProfile: p3 });
  deep.pixels.set(COLOURS.flatMap((level) => [level, level]));
  const { pixels, warnings } = await convert(deep.file, "image/tiff");
  expectNear(pixels, OF_P3, 2);
  expect(warnings).toEqual(["depth_reduced"]);
});

test("PQ and HLG have a warning and are as light as Chromium shows them", async () => {
  for (const [curve, grey] of [
    [16, [133, 133, 133, 1, 1, 1]],
    [18, [100, 100, 100, 5, 5, 5]],
  ] as const) {
    const { pixels, warnings } = await convert(withColour(await avif(10), nclx(9, curve)));
    expect(warnings).toEqual(["depth_reduced", "hdr_reduced"]);
    expectNear(pixels.slice(9, 15), grey, 5);
    const profiled = withColour(withColour(await avif(10), nclx(9, curve)), profileContent(p3));
    const other = await convert(profiled);
    expect(other.warnings).toEqual(["depth_reduced", "hdr_reduced"]);
    expectNear(other.pixels, OF_P3);
  }
});

test("code points of a HEIC are applied, those of its tile too, but not those of other pictures", async () => {
  // Its red and blue are those of Display P3.
  const untagged = Buffer.from(halvesHeic);
  untagged.write("free", untagged.indexOf("colrprof"), "latin1");
  const wide = (await convert(halvesHeic, "image/heic")).pixels;
  const narrow = (await convert(untagged, "image/heic")).pixels;
  expect(Math.max(...wide.map((level, index) => Math.abs(level - (narrow[index] ?? 0))))).toBeGreaterThan(6);
  for (const items of [[2], [1], [1, 2]]) {
    const { pixels, warnings } = await convert(withColour(untagged, nclx(12, 13, 6), items), "image/heic");
    expectNear(pixels, wide, 2);
    expect(warnings).toEqual([]);
  }
  expectNear((await convert(withColour(halvesHeic, nclx(9, 13, 6)), "image/heic")).pixels, wide, 2);
  const { pixels, warnings } = await convert(withColour(twoPicturesHeic, nclx(12, 16, 6), [2]), "image/heic");
  expectNear(pixels, (await convert(twoPicturesHeic, "image/heic")).pixels, 0);
  expect(warnings).toEqual(["first_page_only"]);
  const glass = await convert(withColour(transparentHeic, nclx(9, 18, 6)), "image/heic");
  expect([glass.stored, glass.warnings]).toEqual(["image/png", ["hdr_reduced"]]);
});
