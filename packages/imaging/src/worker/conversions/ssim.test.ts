import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Pixels } from "../libvips.ts";
import { sampleOf, similarityTo, type Tiled } from "./ssim.ts";
import { type Attempt, findQuality } from "./to-raster.ts";

const SIDE = 44;

/** Texture from a fixed sequence, so that every run compares the same pixels. */
function texture(
  change: (value: number, index: number) => number = (value) => value,
  channels: 3 | 4 = 3,
): Tiled {
  const pixels = Buffer.alloc(SIDE * SIDE * channels);
  let state = 7;
  for (let index = 0; index < SIDE * SIDE; index++) {
    state = (state * 48_271) % 2_147_483_647;
    const value = change(Math.floor(index / SIDE) * 3 + (state % 90), index);
    pixels.fill(Math.min(255, Math.max(0, Math.round(value))), index * channels, index * channels + 3);
    if (channels === 4) pixels[index * channels + 3] = 255;
  }
  return { pixels, width: SIDE, height: SIDE, channels, tileWidth: SIDE, tileHeight: SIDE, share: 1 };
}

/** SSIM as its paper defines it, in every fifth window of each direction: weights of two dimensions, no shortcut. */
function plainSimilarity(one: Pixels, other: Pixels): number {
  const weights = Array.from({ length: 121 }, (_, index) => {
    const [x, y] = [(index % 11) - 5, Math.floor(index / 11) - 5];
    return Math.exp(-(x * x + y * y) / (2 * 1.5 ** 2));
  });
  const total = weights.reduce((sum, each) => sum + each, 0);
  const values: number[] = [];
  for (let top = 0; top + 11 <= one.height; top += 5) {
    for (let left = 0; left + 11 <= one.width; left += 5) {
      const mean = (of: (x: number, y: number) => number) =>
        weights.reduce((sum, weight, index) => {
          return sum + (weight / total) * of(left + (index % 11), top + Math.floor(index / 11));
        }, 0);
      const read = (picture: Pixels) => (x: number, y: number) =>
        picture.pixels[(y * picture.width + x) * picture.channels] ?? 0;
      const [a, b] = [read(one), read(other)];
      const [meanA, meanB] = [mean(a), mean(b)];
      const varianceA = mean((x, y) => (a(x, y) - meanA) ** 2);
      const varianceB = mean((x, y) => (b(x, y) - meanB) ** 2);
      const covariance = mean((x, y) => (a(x, y) - meanA) * (b(x, y) - meanB));
      const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
      values.push(
        ((2 * meanA * meanB + c1) * (2 * covariance + c2)) /
          ((meanA ** 2 + meanB ** 2 + c1) * (varianceA + varianceB + c2)),
      );
    }
  }
  return values.reduce((sum, each) => sum + each, 0) / values.length;
}

describe("similarityTo", () => {
  test("gives 1 for the same pixels", () => {
    expect(similarityTo(texture())(texture())).toBeCloseTo(1, 12);
  });

  test.each([
    ["brighter", (value: number) => value + 20],
    ["with less contrast", (value: number) => 60 + value / 2],
    ["with noise", (value: number, index: number) => value + ((index * 37) % 11) * 3],
  ])("gives the value of the definition for a picture %s", (_, change) => {
    const [one, other] = [texture(), texture(change)];
    expect(similarityTo(one)(other)).toBeCloseTo(plainSimilarity(one, other), 9);
    expect(similarityTo(one)(other)).toBeLessThan(0.995);
  });

  test("sees a difference in white below transparency, which white hides", () => {
    const white = texture(() => 255, 4);
    const given = texture(() => 255, 4);
    for (let pixel = 0; pixel < SIDE * SIDE; pixel++) {
      white.pixels[pixel * 4 + 3] = 128;
      given.pixels[pixel * 4 + 3] = pixel % 3 === 0 ? 228 : 28;
    }
    expect(similarityTo(white)(given)).toBeLessThan(0.9);
    expect(similarityTo(white)(white)).toBeCloseTo(1, 12);
  });

  test("compares pixels with and without an alpha channel", () => {
    expect(similarityTo(texture(undefined, 4))(texture())).toBeCloseTo(1, 12);
  });

  test("gives less for a sample whose tiles differ: the mean less 1.64 standard errors", () => {
    const [one, other] = [
      texture(),
      texture((value, index) => (index % SIDE < SIDE / 2 ? value : value + 40)),
    ];
    const tiled = { ...one, tileWidth: SIDE / 2, tileHeight: SIDE / 2 };
    const mean = similarityTo(tiled)(other);
    const sample = similarityTo({ ...tiled, share: 0.1 })(other);
    expect(sample).toBeLessThan(mean);
    // The variance of two good and two bad tiles, each as far from the mean.
    const spread = similarityTo({ ...tiled, share: 0.55 })(other);
    expect((mean - sample) ** 2 / (mean - spread) ** 2).toBeCloseTo(2, 6);
    expect(similarityTo({ ...tiled, share: 0.1 })(one)).toBeCloseTo(1, 12);
  });

  test("gives the mean of the tiles, without windows across their edges", () => {
    const [one, other] = [texture(), texture((value, index) => value + (index % 13))];
    const half = SIDE / 2;
    const tiled = { ...one, tileWidth: half, tileHeight: half };
    const cut = ({ pixels }: Pixels, left: number, top: number): Tiled => {
      const rows = Array.from({ length: half }, (_, row) => {
        const start = ((top + row) * SIDE + left) * 3;
        return pixels.subarray(start, start + half * 3);
      });
      const size = { width: half, height: half, tileWidth: half, tileHeight: half, share: 1 };
      return { ...size, pixels: Buffer.concat(rows), channels: 3 };
    };
    const corners = [
      [0, 0],
      [half, 0],
      [0, half],
      [half, half],
    ] as const;
    const each = corners.map(([left, top]) => similarityTo(cut(one, left, top))(cut(other, left, top)));
    expect(similarityTo(tiled)(other)).toBeCloseTo(each.reduce((sum, value) => sum + value, 0) / 4, 12);
  });
});

/** A picture whose pixels hold their own place. */
function placed(width: number, height: number): Pixels {
  const pixels = Buffer.alloc(width * height * 4);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels.writeUInt16LE(x, (y * width + x) * 4);
      pixels.writeUInt16LE(y, (y * width + x) * 4 + 2);
    }
  }
  return { pixels, width, height, channels: 4 };
}

test("a small picture is its own sample", () => {
  const { pixels, ...picture } = placed(384, 384);
  const { pixels: taken, ...sample } = sampleOf({ pixels, ...picture });
  expect(taken).toBe(pixels);
  expect(sample).toEqual({ ...picture, tileWidth: 384, tileHeight: 384, share: 1 });
});

test("the sample of a larger picture has whole tiles of it, at multiples of 16 pixels, all over the picture", () => {
  const side = fc.oneof(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 91, max: 3000 }));
  fc.assert(
    fc.property(fc.record({ width: side, height: side }), ({ width, height }) => {
      fc.pre(width * height > 384 * 384 && width * height < 2_000_000);
      const { tileWidth, tileHeight, share, ...sample } = sampleOf(placed(width, height));
      expect([tileWidth, tileHeight]).toEqual([Math.min(64, width), Math.min(64, height)]);
      expect([sample.width % tileWidth, sample.height % tileHeight]).toEqual([0, 0]);
      const [columns, rows] = [sample.width / tileWidth, sample.height / tileHeight];
      expect(columns * rows).toBeLessThanOrEqual(36);
      expect(sample.pixels).toHaveLength(sample.width * sample.height * 4);
      expect(share).toBeCloseTo((sample.width * sample.height) / (width * height), 12);
      const at = (x: number, y: number) => {
        const offset = (y * sample.width + x) * 4;
        return [sample.pixels.readUInt16LE(offset), sample.pixels.readUInt16LE(offset + 2)] as const;
      };
      const seen = new Set<string>();
      for (let top = 0; top < sample.height; top += tileHeight) {
        for (let left = 0; left < sample.width; left += tileWidth) {
          const [x, y] = at(left, top);
          seen.add(`${x},${y}`);
          expect([x % 16, y % 16]).toEqual([0, 0]);
          expect(at(left + tileWidth - 1, top + tileHeight - 1)).toEqual([
            x + tileWidth - 1,
            y + tileHeight - 1,
          ]);
          // In its own part of the picture.
          expect(Math.floor(((x + tileWidth / 2) * columns) / width)).toBe(left / tileWidth);
          expect(Math.floor(((y + tileHeight / 2) * rows) / height)).toBe(top / tileHeight);
        }
      }
      expect(seen.size).toBe(columns * rows);
    }),
    { numRuns: 20 },
  );
});

const RANGE = { lowest: 45, high: 90 };

/** A search on a picture whose SSIM and bytes are functions of the quality. */
async function searched(
  similarityOf: (quality: number) => number,
  bytesOf: (quality: number) => number = (quality) => quality,
  range = RANGE,
) {
  const attempts: Attempt[] = [];
  const found = await findQuality(range, async (quality) => {
    const attempt = { quality, similarity: similarityOf(quality), bytes: Buffer.alloc(bytesOf(quality)) };
    attempts.push(attempt);
    return attempt;
  });
  return { found, attempts, tried: attempts.map(({ quality }) => quality) };
}

describe("findQuality", () => {
  test("encodes at most 4 times, at whole qualities up to high, and finds one that is similar enough", async () => {
    const similarity = fc.double({ min: 0, max: 1, noNaN: true });
    await fc.assert(
      fc.asyncProperty(
        fc.array(similarity, { minLength: 101, maxLength: 101 }),
        fc.array(fc.integer({ min: 0, max: 99 }), { minLength: 101, maxLength: 101 }),
        fc.tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 99 })),
        async (similarities, bytes, [one, other]) => {
          const range = { lowest: Math.min(one, other), high: Math.max(one, other) };
          const of = (quality: number) => similarities[quality] ?? Number.NaN;
          const { found, tried } = await searched(of, (quality) => bytes[quality] ?? 0, range);
          expect(tried.length).toBeLessThanOrEqual(4);
          expect(new Set(tried).size).toBe(tried.length);
          expect(tried[0]).toBe(range.high);
          for (const quality of tried) {
            expect(Number.isInteger(quality)).toBe(true);
            expect(quality).toBeGreaterThanOrEqual(range.lowest);
            expect(quality).toBeLessThanOrEqual(range.high);
          }
          expect(found.similarity).toBeGreaterThanOrEqual(Math.min(0.98, of(range.high)));
          expect(found.bytes.length).toBeLessThanOrEqual(bytes[range.high] ?? 0);
        },
      ),
    );
  });

  test("encodes once where high is not similar enough itself", async () => {
    expect((await searched(() => 0.97)).tried).toEqual([90]);
    expect((await searched(() => 0.98)).tried).toEqual([90]);
  });

  test("takes the lowest quality where every quality is similar enough", async () => {
    expect((await searched(() => 1)).found.quality).toBe(45);
  });

  test("stays at high where a lower quality has more bytes", async () => {
    const { found } = await searched(
      () => 0.99,
      (quality) => 100 - quality,
    );
    expect(found.quality).toBe(90);
  });

  test("comes within 4 of the lowest quality that suffices, for curves like those of encoders", async () => {
    for (const power of [0.8, 1, 1.4, 2, 3]) {
      for (let sufficient = RANGE.lowest; sufficient <= RANGE.high; sufficient++) {
        // 1 - SSIM falls to 0.02 at `sufficient`.
        const curve = (quality: number) => 1 - 0.02 * ((102 - quality) / (102 - sufficient)) ** power;
        const { found } = await searched(curve);
        expect(found.quality).toBeGreaterThanOrEqual(sufficient);
        expect(found.quality - sufficient, `power ${power}, ${sufficient} suffices`).toBeLessThanOrEqual(4);
      }
    }
  });
});
