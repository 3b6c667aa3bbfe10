import fc from "fast-check";
import { expect, test } from "vitest";
import type { Pixels } from "../libvips.ts";
import { sampleOf } from "./ssim.ts";

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
