import { expect, test } from "vitest";
import { type ByteOrder, exifBlock } from "../../../test/exif-blocks.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";

const orientations = [1, 2, 3, 4, 5, 6, 7, 8];

test.each<ByteOrder>(["II", "MM"])(
  "readExifOrientation reads every orientation in byte order %s",
  (byteOrder) => {
    for (const orientation of orientations) {
      expect(readExifOrientation(exifBlock(orientation, byteOrder))).toBe(orientation);
    }
  },
);

test.each([
  ["BYTE", 1],
  ["LONG", 4],
])("readExifOrientation reads an orientation of type %s, as libexif does", (_, type) => {
  expect(readExifOrientation(exifBlock(6, "II", type))).toBe(6);
  expect(readExifOrientation(exifBlock(6, "MM", type))).toBe(6);
});

test("readExifOrientation reads blocks of writeExifOrientation", () => {
  for (const orientation of orientations) {
    expect(readExifOrientation(writeExifOrientation(orientation))).toBe(orientation);
  }
});

test.each([
  ["an orientation that does not exist", exifBlock(9)],
  ["an orientation of no known type", exifBlock(6, "MM", 7)],
  ["no value", exifBlock(6).fill(0, 26, 30)],
  ["another byte order", exifBlock(6).fill("IM", 0, 2)],
  ["another magic number", exifBlock(6).fill(0, 2, 4)],
  ["a directory beyond the end", exifBlock(6).fill(0xff, 4, 8)],
  ["no directory entries", exifBlock(6).fill(0, 8, 10)],
])("readExifOrientation returns 1 for %s", (_, block) => {
  expect(readExifOrientation(block)).toBe(1);
});

test("readExifOrientation reads a truncated block up to its end", () => {
  const block = exifBlock(6);
  for (let length = 0; length <= block.length; length++) {
    expect(readExifOrientation(block.subarray(0, length)), `${length}`).toBe(length < 34 ? 1 : 6);
  }
});

test("readExifOrientation ignores an entry count beyond the end of the block", () => {
  expect(readExifOrientation(exifBlock(6).fill(0xff, 8, 10))).toBe(6);
});
