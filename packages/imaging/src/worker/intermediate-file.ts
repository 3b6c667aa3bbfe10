import { deflateSync, inflateSync } from "node:zlib";
import type { OriginalType } from "@outrigger/core/images";
import sharp from "sharp";
import type { Pixels } from "./libvips.ts";
import { type Picture, unreadable } from "./picture.ts";

/**
 * First bytes of an intermediate with raw pixels. After it come width and height (4 bytes each, big-endian), channels (1 byte) and the
 * pixels. It is read and resized in 8 ms. A photograph as PNG would take 25 ms and a fifth fewer bytes, and as lossless
 * WebP 45 ms plus 1 s to write. JPEG loses too much.
 */
const MARK = Buffer.from("ORI1", "latin1");
/** First bytes of an intermediate with deflated pixels (RFC 1950), after the same header. */
const FLAT_MARK = Buffer.from("ORI2", "latin1");
const HEADER_BYTES = 13;

/** Pictures that deflate to less than this share are stored deflated: in a tenth of the bytes, so that many pages of a document
 * are kept, for 5 ms more. Not as PNG: libvips scales it in other pieces, so that some sizes would differ by a level. */
const FLAT_SHARE = 0.25;
const SAMPLED_ROWS = 32;

export function writeIntermediate(picture: Pixels): Buffer {
  const { pixels, width, height, channels } = picture;
  const flat = isFlat(picture);
  const header = Buffer.alloc(HEADER_BYTES);
  (flat ? FLAT_MARK : MARK).copy(header);
  header.writeUInt32BE(width, 4);
  header.writeUInt32BE(height, 8);
  header.writeUInt8(channels, 12);
  return Buffer.concat([header, flat ? deflateSync(pixels, { level: 1 }) : pixels]);
}

/**
 * Opens a file written by {@link writeIntermediate}.
 * @param limits.side Pixels of the longer side at most.
 * @throws `unsupported_media` for any other file.
 */
export function openIntermediate(bytes: Buffer, type: OriginalType, { side }: { side: number }): Picture {
  const pixels = readIntermediate(bytes, side);
  if (pixels === null) throw unreadable(type, "its intermediate is damaged");
  return pictureOfPixels(pixels);
}

function readIntermediate(bytes: Buffer, side: number): Pixels | null {
  if (bytes.length <= HEADER_BYTES) return null;
  const [width, height, channels] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8), bytes.readUInt8(12)];
  if (Math.max(width, height) > side || (channels !== 3 && channels !== 4)) return null;
  const length = width * height * channels;
  const mark = bytes.subarray(0, MARK.length);
  const stored = bytes.subarray(HEADER_BYTES);
  const pixels = mark.equals(FLAT_MARK) ? inflated(stored, length) : mark.equals(MARK) ? stored : null;
  return pixels?.length === length ? { pixels, width, height, channels } : null;
}

function inflated(bytes: Buffer, length: number): Buffer | null {
  try {
    // In one piece: a third faster than in pieces.
    return inflateSync(bytes, { chunkSize: length + 1, maxOutputLength: length + 1 });
  } catch {
    return null;
  }
}

/** Pixels as a picture to convert. */
export function pictureOfPixels({ pixels, width, height, channels }: Pixels): Picture {
  const decode = async () => sharp(pixels, { raw: { width, height, channels } });
  return { natural: { width, height }, frames: 1, pages: 1, scalable: false, decode };
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
