import { deflateSync } from "node:zlib";
import type { OriginalType, Size } from "@outrigger/core/images";
import sharp, { type Sharp } from "sharp";
import { awaitLibvips, type Pixels } from "./libvips.ts";
import { type Picture, unreadable } from "./picture.ts";

/**
 * First bytes of an intermediate with raw pixels. After it come width and height (4 bytes each, big-endian), channels
 * (1 byte) and the pixels. It is read and resized in 8 ms. A photograph as PNG would take 25 ms and a fifth fewer
 * bytes, and as lossless WebP 45 ms plus 1 s to write. JPEG loses too much.
 */
const MARK = Buffer.from("ORI1", "latin1");
const HEADER_BYTES = 13;

/** Pictures that deflate to less than this share are stored as PNG: a tenth of the bytes, so that many pages of a document
 * are kept, for 6 ms more. */
const FLAT_SHARE = 0.25;
const SAMPLED_ROWS = 32;

export async function writeIntermediate(picture: Pixels): Promise<Buffer> {
  const { pixels, width, height, channels } = picture;
  if (isFlat(picture)) {
    return sharp(pixels, { raw: { width, height, channels } }).png({ compressionLevel: 1 }).toBuffer();
  }
  const header = Buffer.alloc(HEADER_BYTES);
  MARK.copy(header);
  header.writeUInt32BE(width, 4);
  header.writeUInt32BE(height, 8);
  header.writeUInt8(channels, 12);
  return Buffer.concat([header, pixels]);
}

/**
 * Opens a file written by {@link writeIntermediate}. Rejects with `unsupported_media` for any other file; damaged pixels reject
 * when they are decoded.
 * @param limits.side Pixels of the longer side at most.
 */
export async function openIntermediate(
  bytes: Buffer,
  type: OriginalType,
  { side }: { side: number },
): Promise<Picture> {
  const isRaw = bytes.length === 0 || bytes.subarray(0, MARK.length).equals(MARK);
  const picture = isRaw ? rawPicture(bytes) : await openPng(bytes, type, side ** 2);
  if (picture === null || Math.max(picture.natural.width, picture.natural.height) > side) {
    throw unreadable(type, "its intermediate is damaged");
  }
  return picture;
}

async function openPng(bytes: Buffer, type: OriginalType, maxPixels: number): Promise<Picture> {
  const open = () => sharp(bytes, { limitInputPixels: maxPixels });
  const { width, height } = await awaitLibvips(type, { maxPixels }, open().metadata());
  return pictureOf({ width, height }, open);
}

/** Pixels as a picture to convert. */
export function pictureOfPixels({ pixels, width, height, channels }: Pixels): Picture {
  return pictureOf({ width, height }, () => sharp(pixels, { raw: { width, height, channels } }));
}

function pictureOf(natural: Size, open: () => Sharp): Picture {
  return { natural, frames: 1, pages: 1, scalable: false, decode: async () => open() };
}

function rawPicture(bytes: Buffer): Picture | null {
  if (bytes.length < HEADER_BYTES) return null;
  const [width, height, channels] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8), bytes.readUInt8(12)];
  const pixels = bytes.subarray(HEADER_BYTES);
  const isWhole = pixels.length > 0 && pixels.length === width * height * channels;
  return isWhole && (channels === 3 || channels === 4)
    ? pictureOfPixels({ pixels, width, height, channels })
    : null;
}

/** Whether a sample of the rows compresses well. Most pictures are not worth compressing. */
function isFlat({ pixels, width, height, channels }: Pixels): boolean {
  const rowBytes = width * channels;
  const step = Math.max(1, Math.floor(height / SAMPLED_ROWS));
  const rows: Buffer[] = [];
  for (let row = 0; row < height; row += step) {
    rows.push(pixels.subarray(row * rowBytes, (row + 1) * rowBytes));
  }
  const sample = Buffer.concat(rows);
  return deflateSync(sample, { level: 1 }).length < sample.length * FLAT_SHARE;
}
