import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { pngChunk } from "../support/raster-files.ts";
import { type Bomb, packedZeros } from "./bomb.ts";

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

interface PngHeader {
  width: number;
  height: number;
  depth?: number;
  colour?: number;
  interlace?: number;
}

export function png(
  { width, height, depth = 8, colour = 0, interlace = 0 }: PngHeader,
  ...chunks: Buffer[]
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, interlace], 8);
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk("IHDR", header),
    ...chunks,
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A black picture, compressed. */
export function blackRows(width: number, height: number, bitsPerPixel: number): Buffer {
  return pngChunk("IDAT", packedZeros(height * (1 + Math.ceil((width * bitsPerPixel) / 8))));
}

export function pngs(): Bomb[] {
  const onePixel = pngChunk("IDAT", deflateSync(Buffer.alloc(2)));
  const tiny = { width: 1, height: 1 };
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a PNG that declares 100000²", "refused", png({ width: 100_000, height: 100_000 }, onePixel)],
    [
      "a PNG that declares 2^31-1 squared",
      "refused",
      png({ width: 2 ** 31 - 1, height: 2 ** 31 - 1 }, onePixel),
    ],
    ["a PNG of 0 × 0 pixels", "refused", png({ width: 0, height: 0 }, onePixel)],
    [
      "a true PNG of 16000²",
      "refused",
      png({ width: 16_000, height: 16_000, depth: 1 }, blackRows(16_000, 16_000, 1)),
    ],
    [
      "an interlaced PNG of 16000²",
      "refused",
      png({ width: 16_000, height: 16_000, depth: 1, interlace: 1 }, blackRows(16_000, 16_000, 1)),
    ],
    [
      "a true PNG of 7000², 16 bits, with alpha",
      "bounded",
      png({ width: 7000, height: 7000, depth: 16, colour: 6 }, blackRows(7000, 7000, 64)),
    ],
    ["a PNG of 2^24 by 1", "bounded", png({ width: 2 ** 24, height: 1, depth: 1 }, blackRows(2 ** 24, 1, 1))],
    ["a PNG with 4 GB after its only row", "bounded", png(tiny, pngChunk("IDAT", packedZeros(2 ** 32)))],
    [
      "a PNG with 20 texts of 100 MB",
      "bounded",
      png(
        tiny,
        ...Array.from({ length: 20 }, (_, index) =>
          pngChunk("zTXt", Buffer.concat([Buffer.from(`Text ${index}\0\0`), packedZeros(100_000_000)])),
        ),
        onePixel,
      ),
    ],
    [
      "a PNG with a colour profile of 300 MB",
      "bounded",
      png(
        tiny,
        pngChunk("iCCP", Buffer.concat([Buffer.from("icc\0\0"), packedZeros(300_000_000)])),
        onePixel,
      ),
    ],
    [
      "a PNG of 100,000 empty chunks",
      "bounded",
      png(tiny, ...Array.from({ length: 100_000 }, () => pngChunk("teXt", Buffer.alloc(0))), onePixel),
    ],
    [
      "an animated PNG that declares 2^32-1 frames",
      "bounded",
      png(tiny, pngChunk("acTL", Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])), onePixel),
    ],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/png" }));
}

function gif(width: number, height: number, frames: number, tail = Buffer.from([0x3b])): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const colours = Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]);
  const frame = Buffer.concat([
    Buffer.from([0x21, 0xf9, 4, 0, 1, 0, 0, 0, 0x2c, 0, 0, 0, 0]),
    size,
    // One pixel of LZW, then the end code.
    Buffer.from([0, 2, 2, 0x44, 1, 0]),
  ]);
  return Buffer.concat([
    Buffer.from("GIF89a"),
    size,
    colours,
    ...Array.from({ length: frames }, () => frame),
    tail,
  ]);
}

export function gifs(): Bomb[] {
  const badCodeSize = gif(1, 1, 1);
  badCodeSize[badCodeSize.length - 6] = 255;
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a GIF of 16000² in 50 bytes", "refused", gif(16_000, 16_000, 1)],
    ["a GIF of 65535²", "refused", gif(65_535, 65_535, 1)],
    ["a GIF of 1000 frames", "refused", gif(100, 100, 1000)],
    ["a GIF of 100,000 frames", "refused", gif(10, 10, 100_000)],
    ["a GIF of 60 frames of 1000²", "refused", gif(1000, 1000, 60)],
    ["a GIF of 0 × 0 pixels", "bounded", gif(0, 0, 1)],
    ["a GIF without an end", "bounded", gif(10, 10, 1, Buffer.alloc(0))],
    [
      "a GIF with a megabyte of empty comments",
      "bounded",
      gif(10, 10, 1, Buffer.alloc(1_000_000, "\x21\xfe\0", "latin1")),
    ],
    ["a GIF of an impossible code size", "bounded", badCodeSize],
    ["a GIF of 60 frames of 900²", "bounded", gif(900, 900, 60)],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/gif" }));
}

/** A JPEG with other dimensions in its frame header. */
function redimensioned(jpeg: Buffer, width: number, height: number): Buffer {
  const changed = Buffer.from(jpeg);
  for (const marker of [0xc0, 0xc2]) {
    const at = changed.indexOf(Buffer.from([0xff, marker, 0]));
    if (at === -1) continue;
    changed.writeUInt16BE(height, at + 5);
    changed.writeUInt16BE(width, at + 7);
  }
  return changed;
}

/** A progressive JPEG that repeats its last scan: each repetition passes over the whole picture. */
function scans(jpeg: Buffer, count: number): Buffer {
  const last = jpeg.lastIndexOf(Buffer.from([0xff, 0xda]));
  const scan = jpeg.subarray(last, -2);
  return Buffer.concat([
    jpeg.subarray(0, -2),
    ...Array.from({ length: count }, () => scan),
    jpeg.subarray(-2),
  ]);
}

export async function jpegs(): Promise<Bomb[]> {
  const black = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "#000" } });
  const baseline = await black(16, 16).jpeg().toBuffer();
  const progressive = await black(4000, 4000).jpeg({ progressive: true }).toBuffer();
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a JPEG that declares 65500²", "refused", redimensioned(baseline, 65_500, 65_500)],
    ["a JPEG of 7000² with the bytes of 16²", "bounded", redimensioned(baseline, 7000, 7000)],
    ["a JPEG of 0 × 0 pixels", "refused", redimensioned(baseline, 0, 0)],
    ["a JPEG of 1000 scans", "bounded", scans(progressive, 1000)],
    [
      "a JPEG of 50,000 comments",
      "bounded",
      Buffer.concat([
        baseline.subarray(0, 2),
        Buffer.alloc(200_000, Buffer.from([0xff, 0xfe, 0, 2])),
        baseline.subarray(2),
      ]),
    ],
    ["a JPEG of fill bytes", "refused", Buffer.alloc(5_000_000, 0xff).fill(0xd8, 1, 2)],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/jpeg" }));
}
