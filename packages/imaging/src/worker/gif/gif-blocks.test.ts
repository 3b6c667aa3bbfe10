import { ServiceError } from "@outrigger/core";
import sharp from "sharp";
import { expect, test } from "vitest";
import { sparseGif } from "../../../test/hostile-gifs.ts";
import { readGifStructure } from "./gif-blocks.ts";

const frame = { width: 30, height: 20 };
const gif = sparseGif(30, 20, [frame, frame, frame]);

test("readGifStructure counts frames and reads the screen size", () => {
  expect(readGifStructure(gif)).toEqual({ width: 30, height: 20, frames: 3 });
});

test("readGifStructure reads colour tables, extensions and loops of a real encoder", async () => {
  const raw = { width: 8, height: 4 * 5, channels: 3, pageHeight: 5 } as const;
  const pixels = Buffer.from(Array.from({ length: 8 * 20 * 3 }, (_, index) => (index * 37) % 256));
  const bytes = await sharp(pixels, { raw })
    .gif({ loop: 2, delay: [10, 20, 30, 40] })
    .toBuffer();
  expect(readGifStructure(bytes)).toEqual({ width: 8, height: 5, frames: 4 });
});

test("readGifStructure detects every cut within a block, and accepts a missing trailer", () => {
  const [headerBytes, controlBytes, frameBytes] = [19, 8, 22];
  // After a frame, or after what announces the next.
  const boundaries = [1, 2, 3].flatMap((frames) => {
    const end = headerBytes + frames * frameBytes;
    return [end, end + controlBytes];
  });
  for (let length = 0; length < gif.length; length++) {
    const bytes = gif.subarray(0, length);
    if (boundaries.includes(length)) expect(readGifStructure(bytes).frames).toBeGreaterThan(0);
    else expect(() => readGifStructure(bytes), `${length} bytes`).toThrow(ServiceError);
  }
});

test("readGifStructure skips padding and stops at any other byte after a picture", () => {
  const body = gif.subarray(0, -1);
  expect(readGifStructure(Buffer.concat([body, Buffer.of(0, 0, 0x3b)])).frames).toBe(3);
  expect(readGifStructure(Buffer.concat([body, Buffer.from("comment")])).frames).toBe(3);
});

test.each([
  ["no header", Buffer.from("GIF88a and so forth")],
  ["no picture", sparseGif(30, 20, [])],
])("refuses %s", (_, bytes) => {
  expect(() => readGifStructure(bytes)).toThrow(expect.objectContaining({ code: "unsupported_media" }));
});

test("readGifStructure walks a million frames in linear time", () => {
  const one = sparseGif(1, 1, [{ width: 1, height: 1 }]);
  const many = Buffer.concat([one.subarray(0, 19), Buffer.alloc(22_000_000, one.subarray(19, 41))]);
  const begun = process.cpuUsage();
  expect(readGifStructure(many).frames).toBe(1_000_000);
  expect(process.cpuUsage(begun).user).toBeLessThan(20_000_000);
});
