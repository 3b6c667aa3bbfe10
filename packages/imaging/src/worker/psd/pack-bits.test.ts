import { expect, test } from "vitest";
import { createRandom } from "../../../../../test/hostile/random.ts";
import { maxPackedBytes, packBits, unpackBits } from "./pack-bits.ts";

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
