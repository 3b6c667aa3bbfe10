import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Attempt, findQuality } from "./to-raster.ts";

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
