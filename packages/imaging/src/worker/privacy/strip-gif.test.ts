import sharp from "sharp";
import { beforeAll, expect, test } from "vitest";
import { sparseGif } from "../../../test/hostile-gifs.ts";
import { animation, CORNERS } from "../../../test/pictures.ts";
import { stripped } from "../../../test/stripped.ts";
import { stripGif } from "./strip-raster.ts";

const SECRET = "a secret";
const TRAILER = Buffer.of(0x3b);
let animated: Buffer;

beforeAll(async () => {
  animated = await animation(16, 12, CORNERS, { delay: [50, 60, 70, 80], loop: 3 });
});

function extension(label: number, ...blocks: (Buffer | string)[]): Buffer {
  const subBlocks = blocks.flatMap((block) => [
    Buffer.of(block.length),
    Buffer.from(block as string, "latin1"),
  ]);
  return Buffer.concat([Buffer.of(0x21, label), ...subBlocks, Buffer.of(0)]);
}

function application(identifier: string, ...blocks: (Buffer | string)[]): Buffer {
  return extension(0xff, identifier, ...blocks);
}

/** An XMP block: raw XMP, then a ramp of bytes that leads readers of sub-blocks to its end. */
function xmp(text: string): Buffer {
  const ramp = Buffer.from(Array.from({ length: 256 }, (_, index) => 255 - index));
  return Buffer.concat([Buffer.from(`\x21\xff\x0bXMP DataXMP${text}\x01`, "latin1"), ramp, Buffer.of(0)]);
}

/** The GIF with additional blocks before its trailer. */
function withBlocks(gif: Buffer, ...blocks: Buffer[]): Buffer {
  return Buffer.concat([gif.subarray(0, -1), ...blocks, TRAILER]);
}

const strip = (bytes: Buffer) => stripped(bytes, stripGif);

test.each([
  ["a comment", extension(0xfe, SECRET)],
  ["a long comment", extension(0xfe, SECRET.repeat(30), SECRET)],
  ["XMP", xmp(`<x:xmpmeta>${SECRET}</x:xmpmeta>`)],
  ["another application's data", application("MYPROGRAM00", SECRET)],
  ["an application without a name of its own", extension(0xff, SECRET)],
  ["an unknown extension", extension(0x77, SECRET)],
])("stripGif removes only %s", (_, added) => {
  expect(strip(withBlocks(animated, added))).toEqual(animated);
});

test("stripGif removes comments between frames and keeps the timing of each frame", async () => {
  const first = animated.indexOf(Buffer.of(0x21, 0xf9));
  const second = animated.indexOf(Buffer.of(0x21, 0xf9), first + 1);
  const comment = extension(0xfe, SECRET);
  const commented = Buffer.concat([animated.subarray(0, second), comment, animated.subarray(second)]);
  const stripped = strip(commented);
  expect(stripped).toEqual(animated);
  expect(await sharp(stripped, { animated: true }).metadata()).toMatchObject({
    pages: 4,
    delay: [50, 60, 70, 80],
    loop: 3,
  });
});

test.each([
  ["repetition", application("NETSCAPE2.0", "\x01\x05\0")],
  ["repetition of another program", application("ANIMEXTS1.0", "\x01\x05\0")],
  ["a colour profile", application("ICCRGBG1012", "profile")],
  ["text that is drawn", extension(0x01, "\0".repeat(12), "drawn")],
])("stripGif keeps %s", (_, added) => {
  expect(stripGif(withBlocks(animated, added))).toBeNull();
});

test("stripGif removes everything after the trailer", () => {
  expect(strip(Buffer.concat([animated, Buffer.from(SECRET)]))).toEqual(animated);
});

test("stripGif ends a GIF where decoders do when no valid block follows", () => {
  const endless = Buffer.concat([animated.subarray(0, -1), Buffer.from(SECRET)]);
  expect(strip(endless)).toEqual(animated);
});

test("stripGif does not change a GIF without a trailer or with padding", () => {
  expect(stripGif(animated.subarray(0, -1))).toBeNull();
  expect(stripGif(withBlocks(animated, Buffer.of(0, 0)))).toBeNull();
});

test("stripGif refuses a file truncated within a block, and bytes that are not a GIF", () => {
  const gif = withBlocks(sparseGif(4, 4, [{ width: 4, height: 4 }]), extension(0xfe, SECRET));
  const refusal = expect.objectContaining({ code: "unsupported_media" });
  expect(() => stripGif(gif.subarray(0, gif.length - 3))).toThrow(refusal);
  expect(() => stripGif(Buffer.from("GIF88a and so forth"))).toThrow(refusal);
  for (let length = 0; length < gif.length; length++) {
    const cut = gif.subarray(0, length);
    try {
      stripGif(cut);
    } catch (error) {
      expect(error, `${length}`).toMatchObject({ code: "unsupported_media" });
    }
  }
});
