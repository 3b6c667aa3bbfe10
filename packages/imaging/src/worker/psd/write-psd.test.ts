import { initializeCanvas, readPsd } from "ag-psd";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import { largestDifference, readPsdPixels } from "../../../../../test/support/psd-pixels.ts";
import { maxPackedBytes, packBits, unpackBits } from "./pack-bits.ts";
import { writePsd } from "./write-psd.ts";

const { below } = createRandom(11);

/** A plain upper half, noise in the lower half, and every value of alpha. */
function pixelsOf(width: number, height: number, channels: 3 | 4): Buffer {
  return Buffer.from(
    Array.from({ length: width * height * channels }, (_, index) => {
      const pixel = Math.floor(index / channels);
      if (index % channels === 3) return pixel % 256;
      return pixel < (width * height) / 2 ? 40 * (index % channels) : below(256);
    }),
  );
}

const sizes = [
  [1, 1],
  [1, 300],
  [3000, 1],
  [127, 3],
  [128, 3],
  [129, 7],
  [255, 16],
] as const;

describe("a written PSD is read unchanged:", () => {
  test.each(sizes)("%i by %i without alpha", async (width, height) => {
    const pixels = pixelsOf(width, height, 3);
    const read = await readPsdPixels(writePsd(pixels, { width, height, channels: 3 }));
    expect([read.width, read.height, read.channels]).toEqual([width, height, 3]);
    expect(read.data.equals(pixels)).toBe(true);
  });

  test.each(sizes)(
    "%i by %i with alpha, within the precision of merging with white",
    async (width, height) => {
      const pixels = pixelsOf(width, height, 4);
      const read = await readPsdPixels(writePsd(pixels, { width, height, channels: 4 }));
      expect([read.width, read.height, read.channels]).toEqual([width, height, 4]);
      for (let index = 0; index < pixels.length; index += 4) {
        const alpha = pixels[index + 3] ?? 0;
        expect(read.data[index + 3]).toBe(alpha);
        // Half a step of 255, divided by alpha.
        const tolerance = alpha === 0 ? 255 : Math.ceil(127.5 / alpha);
        const [found, wanted] = [read.data, pixels].map((all) => all.subarray(index, index + 3));
        expect(largestDifference(found ?? [], wanted ?? [])).toBeLessThanOrEqual(tolerance);
      }
    },
  );
});

test("the layer of a written PSD holds the colours lost by merging with white", async () => {
  const pixels = pixelsOf(37, 21, 4);
  const bytes = writePsd(pixels, { width: 37, height: 21, channels: 4 });
  initializeCanvas(
    () => {
      throw new Error("The PSD library requested a canvas");
    },
    (width, height) => ({
      width,
      height,
      data: new Uint8ClampedArray(width * height * 4),
      colorSpace: "srgb",
    }),
  );
  const [layer] = readPsd(bytes, { useImageData: true }).children ?? [];
  const read = Buffer.from(layer?.imageData?.data ?? []);
  const opaque = (all: Buffer) => all.filter((_, index) => (pixels[index | 3] ?? 0) > 0);
  expect(largestDifference(opaque(read), opaque(pixels))).toBe(0);
});

test("writePsd packs one colour to almost nothing, and noise to little more than its size", () => {
  const size = { width: 500, height: 500, channels: 3 } as const;
  expect(writePsd(Buffer.alloc(750_000, 9), size).length).toBeLessThan(16_000);
  const noise = createRandom(12).bytes(750_000);
  expect(writePsd(noise, size).length).toBeLessThan(760_000);
});

test.each([
  ["no width", 0, { width: 0, height: 1, channels: 3 }],
  ["a side over 30,000", 90_003, { width: 30_001, height: 1, channels: 3 }],
  ["a fraction of a pixel", 3, { width: 1, height: 1.5, channels: 3 }],
  ["too few bytes", 11, { width: 2, height: 2, channels: 3 }],
  ["too many bytes", 16, { width: 2, height: 2, channels: 3 }],
] as const)("writePsd throws a RangeError for %s", (_, bytes, size) => {
  expect(() => writePsd(Buffer.alloc(bytes), size)).toThrow(RangeError);
});

function pack(bytes: readonly number[]): number[] {
  const target = Buffer.alloc(maxPackedBytes(bytes.length));
  const end = packBits(Buffer.from(bytes), bytes.length, target, 0);
  return [...target.subarray(0, end)];
}

/** `null` when there are too few packed bytes. */
function unpack(packed: readonly number[], length: number): number[] | null {
  const target = Buffer.alloc(length);
  return unpackBits(Buffer.from(packed), 0, packed.length, target, length) ? [...target] : null;
}

test("packBits packs runs and literals", () => {
  expect(pack([7, 7, 7, 7])).toEqual([0xfd, 7]);
  expect(pack([1, 2, 3])).toEqual([2, 1, 2, 3]);
  expect(pack([1, 2, 2, 2, 3])).toEqual([0, 1, 0xfe, 2, 0, 3]);
  expect(pack([])).toEqual([]);
});

test("unpackBits unpacks the example of Apple's Technical Note 1023", () => {
  const packed = [0xfe, 0xaa, 0x02, 0x80, 0x00, 0x2a, 0xfd, 0xaa, 0x03, 0x80, 0x00, 0x2a, 0x22, 0xf7, 0xaa];
  const hex = "aaaaaa80002aaaaaaaaa80002a22aaaaaaaaaaaaaaaaaaaa";
  expect(Buffer.from(unpack(packed, 24) ?? []).toString("hex")).toBe(hex);
});

test("unpackBits restores packed bytes, which fit into maxPackedBytes", () => {
  const { below } = createRandom(3);
  for (let round = 0; round < 2000; round++) {
    const values = 1 + below(4);
    const bytes = Array.from({ length: below(round < 1000 ? 20 : 700) }, () => below(values));
    const packed = pack(bytes);
    expect(packed.length).toBeLessThanOrEqual(maxPackedBytes(bytes.length));
    expect(unpack(packed, bytes.length)).toEqual(bytes);
  }
});

test("unpackBits ignores surplus bytes and codes without meaning", () => {
  expect(unpack([0xfd, 7], 2)).toEqual([7, 7]);
  expect(unpack([3, 1, 2, 3, 4], 2)).toEqual([1, 2]);
  expect(unpack([0x80, 0, 1, 0x80, 0, 2], 2)).toEqual([1, 2]);
});

test.each([
  ["nothing", []],
  ["a run without its byte", [0xfd]],
  ["a literal that is cut off", [3, 1, 2]],
  ["a code too few", [0, 1]],
])("unpackBits returns false for %s", (_, packed) => {
  expect(unpack(packed, 4)).toBeNull();
});
