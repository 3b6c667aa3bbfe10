import { isServiceError } from "@outrigger/core";
import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { awaitLibvips } from "../libvips.ts";
import { unreadable } from "../unreadable.ts";
import type { JpegScan } from "./jpeg-scans.ts";

const TYPE = "image/jpeg";
/** Columns that are compared as one. */
const COLUMNS = 8;
/** Random bytes that stand for missing data, several times. */
const NOISE_BYTES = 1024;
const REPEATS = 4;
const FIRST_RESTART = 0xd0;
const RESTARTS = 8;

/**
 * Counts the rows of a JPEG up to the first that lacks data. Decodes it twice with different noise at the end of each
 * scan: a decoder reads the noise only in place of missing data, so the pictures differ from there on. A scan that is
 * complete ignores the noise, so the content of the picture does not matter.
 */
export async function countJpegRows(
  bytes: Buffer,
  scans: readonly JpegScan[],
  limits: PictureLimits,
): Promise<{ came: number; of: number }> {
  const needed = scans.filter(({ isNeeded }) => isNeeded);
  const some = await decode(withNoise(bytes, needed, 1), limits);
  const other = await decode(withNoise(bytes, needed, 2), limits);
  const rowBytes = some.data.length / some.height;
  for (let row = 0; row < some.height; row++) {
    const [start, end] = [row * rowBytes, (row + 1) * rowBytes];
    if (some.data.compare(other.data, start, end, start, end) !== 0) return { came: row, of: some.height };
  }
  return { came: some.height, of: some.height };
}

/** The pixels, fewer in each row. */
async function decode(bytes: Buffer, limits: PictureLimits): Promise<{ data: Buffer; height: number }> {
  const image = sharp(bytes, { failOn: "none", limitInputPixels: limits.maxPixels });
  const { width, height } = await awaitLibvips(TYPE, limits, image.metadata());
  const columns = Math.ceil(width / COLUMNS);
  // Rows at full size keep libjpeg from decoding at a fraction of it, which would skip coefficients.
  const narrow = image.resize({ width: columns, height, fit: "fill", kernel: "linear" }).raw();
  try {
    return { data: await awaitLibvips(TYPE, limits, narrow.toBuffer()), height };
  } catch (error) {
    // The noise changes the message of libjpeg.
    throw isServiceError(error) ? unreadable(TYPE, "its scans are damaged", error) : error;
  }
}

function withNoise(bytes: Buffer, scans: readonly JpegScan[], seed: number): Buffer {
  const pieces: Buffer[] = [];
  let start = 0;
  for (const { end, restarts } of scans) {
    let at = end;
    // The first byte of noise after a fill byte would become a marker.
    while (bytes[at - 1] === 0xff) at--;
    pieces.push(bytes.subarray(start, at), noise(seed, restarts));
    start = at;
  }
  return Buffer.concat([...pieces, bytes.subarray(start)]);
}

/** Noise for the restart interval that is incomplete, and for those after it. @param restarts Markers in the scan. */
function noise(seed: number, restarts: number): Buffer {
  const bytes = Buffer.alloc(REPEATS * (NOISE_BYTES + 2));
  let state = seed;
  for (let at = 0; at < bytes.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    // 0xff would begin a marker.
    bytes[at] = (state >>> 24) % 0xff;
  }
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const marker = FIRST_RESTART + ((restarts + repeat) % RESTARTS);
    bytes.set([0xff, marker], repeat * (NOISE_BYTES + 2) + NOISE_BYTES);
  }
  return bytes;
}
