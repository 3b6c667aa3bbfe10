import { deflateSync } from "node:zlib";
import sharp from "sharp";
import { pngChunk } from "../support/raster-files.ts";
import { type Bomb, packedZeros } from "./bomb.ts";

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

interface PngHeader {
  width: number;
  height: number;
  depth?: number;
}

function png({ width, height, depth = 8 }: PngHeader, ...chunks: Buffer[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = depth;
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk("IHDR", header),
    ...chunks,
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A true PNG of 16,000 by 16,000 black pixels. */
export function largePng(): Buffer {
  const side = 16_000;
  return png({ width: side, height: side, depth: 1 }, pngChunk("IDAT", packedZeros(side * (1 + side / 8))));
}

export function pngs(): Bomb[] {
  const onePixel = pngChunk("IDAT", deflateSync(Buffer.alloc(2)));
  const tiny = { width: 1, height: 1 };
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a true PNG of 16000²", "refused", largePng()],
    ["a PNG with 4 GB after its only row", "bounded", png(tiny, pngChunk("IDAT", packedZeros(2 ** 32)))],
    [
      "a PNG with a colour profile of 300 MB",
      "bounded",
      png(
        tiny,
        pngChunk("iCCP", Buffer.concat([Buffer.from("icc\0\0"), packedZeros(300_000_000)])),
        onePixel,
      ),
    ],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/png" }));
}

function gif(width: number, height: number, frames: number): Buffer {
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
    Buffer.from([0x3b]),
  ]);
}

export function gifs(): Bomb[] {
  const list: [title: string, ends: Bomb["ends"], bytes: Buffer][] = [
    ["a GIF of 1000 frames", "refused", gif(100, 100, 1000)],
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
    ["a JPEG of 1000 scans", "bounded", scans(progressive, 1000)],
  ];
  return list.map(([title, ends, bytes]) => ({ title, ends, bytes, type: "image/jpeg" }));
}
