import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { awaitLibvips } from "../libvips.ts";
import { damaged, requireRows } from "../picture.ts";
import { isFrame, type JpegSegment, Marker, readJpegSegments } from "../privacy/jpeg-segments.ts";

const TYPE = "image/jpeg";
const EOI = Buffer.of(0xff, Marker.EOI);

/**
 * A readable copy of a JPEG whose end is missing, or `bytes` itself. libjpeg fills in missing rows. Rejects with
 * `unsupported_media` when too many rows are missing, or a progressive JPEG ends before its finer scans. `null`: it has
 * no scan.
 */
export async function repairJpeg(bytes: Buffer, limits: PictureLimits): Promise<Buffer | null> {
  const found = readJpegScans(bytes);
  const { last } = found;
  if (found.scans.length === 0 || last === null) return null;
  const isTruncated = last.marker !== Marker.EOI;
  if (isTruncated && !isFine(found)) throw damaged("its finer scans are missing");
  const complete = isTruncated
    ? Buffer.concat([bytes.subarray(0, isCut(bytes, last) ? last.start : last.end), EOI])
    : bytes;
  const { came, of } = await countJpegRows(complete, found.scans, limits);
  requireRows(came, of);
  return complete;
}

/** Whether the last segment of a file lacks bytes before its scan data. */
function isCut(bytes: Buffer, { payload }: JpegSegment): boolean {
  const start = payload.byteOffset - bytes.byteOffset;
  return start > bytes.length || start - 2 + bytes.readUInt16BE(start - 2) > bytes.length;
}

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
async function countJpegRows(
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
  return { data: await awaitLibvips(TYPE, limits, narrow.toBuffer()), height };
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

const COEFFICIENTS = 64;
/** The field of a scan that refines coefficients from one missing bit to none. */
const LAST_BIT = 0x10;

/** A scan of a JPEG, with the coefficients that it brings. */
interface JpegScan {
  /** Position after its entropy-coded data. */
  end: number;
  /** Restart markers in it. */
  restarts: number;
  /** Identifiers of its components. */
  components: readonly number[];
  first: number;
  last: number;
  /** Lower bits of the coefficients that it leaves out. */
  missingBits: number;
  /** Whether a picture without it is visibly worse. The last bits of coefficients and the details of colour are not. */
  isNeeded: boolean;
}

/** The scans of a JPEG. */
interface JpegScans {
  /** Identifiers of the components that its frame declares. */
  components: readonly number[];
  /** Those with the details: the brightness, or all where no component is the brightness. */
  detailed: readonly number[];
  scans: readonly JpegScan[];
  /** The last segment of the file. */
  last: JpegSegment | null;
}

/**
 * Reads the headers of the frame and of the scans.
 *
 * Source: ITU-T T.81, sections B.2.2, B.2.3 and G.1.1.
 */
function readJpegScans(bytes: Buffer): JpegScans {
  let components: number[] = [];
  let detailed = components;
  let isProgressive = false;
  let hasBrightness = true;
  const scans: JpegScan[] = [];
  let last: JpegSegment | null = null;
  for (const segment of readJpegSegments(bytes)) {
    const { marker, payload, end } = segment;
    last = segment;
    if (isFrame(marker)) {
      components = Array.from({ length: payload[5] ?? 0 }, (_, index) => payload[6 + 3 * index] ?? 0);
      detailed = hasBrightness && isYcc(components) ? components.slice(0, 1) : components;
      isProgressive = (marker & 3) === 2;
    } else if (marker === Marker.APP14 && payload.toString("latin1", 0, 5) === "Adobe") {
      hasBrightness = payload[11] !== 0;
    } else if (marker === Marker.SOS) {
      const count = payload[0] ?? 0;
      const [first = 0, last = 0, bits = 0] = payload.subarray(1 + 2 * count);
      const ids = Array.from({ length: count }, (_, index) => payload[1 + 2 * index] ?? 0);
      // A sequential scan brings all coefficients, whatever these fields say.
      const brings = isProgressive
        ? { first, last, missingBits: bits & 15 }
        : { first: 0, last: COEFFICIENTS - 1, missingBits: 0 };
      const isDetailed = first === 0 || ids.some((id) => detailed.includes(id));
      const isNeeded = !isProgressive || (isDetailed && bits !== LAST_BIT);
      const data = bytes.subarray(payload.byteOffset - bytes.byteOffset + payload.length, end);
      scans.push({ end, restarts: countRestarts(data), components: ids, ...brings, isNeeded });
    }
  }
  return { components, detailed, scans, last };
}

/** Whether the needed scans are there: each coefficient is known but for its last bit, or the details of colour. */
function isFine({ components, detailed, scans }: JpegScans): boolean {
  return components.every((component) => {
    const missingBits = new Uint8Array(COEFFICIENTS).fill(255);
    for (const scan of scans) {
      if (scan.components.includes(component)) missingBits.fill(scan.missingBits, scan.first, scan.last + 1);
    }
    const needed = detailed.includes(component) ? missingBits : missingBits.subarray(0, 1);
    return needed.every((bits) => bits <= 1);
  });
}

function countRestarts(data: Buffer): number {
  let count = 0;
  for (let at = data.indexOf(0xff); at >= 0; at = data.indexOf(0xff, at + 1)) {
    const follower = data[at + 1] ?? 0;
    if (follower >= 0xd0 && follower <= 0xd7) count++;
  }
  return count;
}

/** Whether three components are brightness and colour: identifiers may also name red, green and blue. */
function isYcc(components: readonly number[]): boolean {
  return components.length === 3 && String.fromCharCode(...components) !== "RGB";
}
