import { constants, inflateRawSync, inflateSync } from "node:zlib";

/** White space of PDF (ISO 32000-1, table 1). */
const SPACES: ReadonlySet<number | undefined> = new Set(Buffer.from("\0\t\n\f\r "));

export function isSpace(byte: number | undefined): boolean {
  return SPACES.has(byte);
}

/** Decodes data up to its end marker or as far as possible: damaged Flate gives nothing. `null` for more than `maxBytes`. */
type StreamDecoder = (data: Buffer, maxBytes: number, earlyChange: boolean) => Buffer | null;

/** The filters that give bytes, not pixels (ISO 32000-1, 7.4), without predictors. */
export const decoders: ReadonlyMap<string, StreamDecoder> = new Map([
  ["FlateDecode", inflateCut],
  ["LZWDecode", decodeLzw],
  ["RunLengthDecode", decodeRuns],
  ["ASCIIHexDecode", decodeHex],
  ["ASCII85Decode", decodeAscii85],
  // In a file that is not encrypted, it changes nothing.
  ["Crypt", (data) => data],
]);

const ZLIB_HEADER_BYTES = 2;

/** Flate, also without its end or with a wrong checksum, as readers accept it. */
function inflateCut(data: Buffer, maxBytes: number): Buffer | null {
  try {
    return inflateRawSync(data.subarray(ZLIB_HEADER_BYTES), {
      maxOutputLength: maxBytes,
      finishFlush: constants.Z_SYNC_FLUSH,
    });
  } catch (error) {
    return error instanceof RangeError ? null : Buffer.alloc(0);
  }
}

/** Inline images have up to 4 KB; programs write larger ones. */
const MAX_INLINE_BYTES = 1024 ** 2;

/** The bytes of a Flate stream at the start of `data`; 0 when they cannot be decoded. Charges `budget`. */
export function inflatedLength(data: Buffer, budget: { bytes: number }): number {
  const maxOutputLength = Math.min(MAX_INLINE_BYTES, budget.bytes);
  try {
    // The types do not know what `info` adds.
    const { buffer, engine } = inflateSync(data, { info: true, maxOutputLength }) as unknown as Inflated;
    budget.bytes -= buffer.length;
    return engine.bytesWritten;
  } catch {
    // Damaged; what follows it is then found by its word.
    budget.bytes -= Math.max(0, maxOutputLength);
    return 0;
  }
}

interface Inflated {
  buffer: Buffer;
  engine: { bytesWritten: number };
}

const HEX_END = 0x3e;
/** The values of digits, and -1 for other bytes. */
const hexDigits = new Int8Array(256).fill(-1);
for (const [index, digit] of Buffer.from("0123456789abcdef").entries()) hexDigits[digit] = index;
for (const [index, digit] of Buffer.from("ABCDEF").entries()) hexDigits[digit] = 10 + index;

function decodeHex(data: Buffer, maxBytes: number): Buffer | null {
  const decoded = Buffer.alloc(Math.min(maxBytes, (data.length + 1) >> 1));
  let digits = 0;
  for (const byte of data) {
    if (byte === HEX_END) break;
    const digit = hexDigits[byte] ?? -1;
    if (digit === -1) continue;
    const at = digits >> 1;
    if (at === decoded.length) return null;
    decoded[at] = digits % 2 === 0 ? digit << 4 : (decoded[at] ?? 0) | digit;
    digits++;
  }
  return decoded.subarray(0, (digits + 1) >> 1);
}

const TILDE = 0x7e;
const LETTER_Z = 0x7a;

function decodeAscii85(data: Buffer, maxBytes: number): Buffer | null {
  // The last group may be shorter than it is written.
  const decoded = Buffer.alloc(Math.min(maxBytes, data.length * 4) + 4);
  let length = 0;
  let value = 0;
  let digits = 0;
  for (const byte of data) {
    if (byte === TILDE) break;
    if (isSpace(byte)) continue;
    if (length > maxBytes) return null;
    if (byte === LETTER_Z && digits === 0) length += 4;
    else if (byte < 0x21 || byte > 0x75) break;
    else {
      value = value * 85 + byte - 0x21;
      if (++digits < 5) continue;
      length = decoded.writeUInt32BE(value % 2 ** 32, length);
      [value, digits] = [0, 0];
    }
  }
  const end = length + Math.max(0, digits - 1);
  if (end > maxBytes) return null;
  if (digits < 2) return decoded.subarray(0, end);
  for (let missing = digits; missing < 5; missing++) value = value * 85 + 84;
  decoded.writeUInt32BE(value % 2 ** 32, length);
  return decoded.subarray(0, end);
}

const RUN_END = 128;

function decodeRuns(data: Buffer, maxBytes: number): Buffer | null {
  // Two bytes are up to 128.
  const decoded = Buffer.alloc(Math.min(maxBytes, data.length * 64));
  let length = 0;
  for (let at = 0; at < data.length && data[at] !== RUN_END; ) {
    const control = data[at] ?? 0;
    const isRun = control > RUN_END;
    const bytes = isRun ? 257 - control : Math.min(control + 1, data.length - at - 1);
    if (length + bytes > decoded.length) return null;
    // A call for each part takes longer than the bytes.
    for (let index = 0; index < bytes; index++) decoded[length++] = data[at + 1 + (isRun ? 0 : index)] ?? 0;
    at += isRun ? 2 : 2 + control;
  }
  return decoded.subarray(0, length);
}

const CLEAR = 256;
const END = 257;
const MAX_CODES = 4096;

/** Each string of the table is a part of what is decoded already: the string before it and the next byte. */
function decodeLzw(data: Buffer, maxBytes: number, earlyChange: boolean): Buffer | null {
  const starts = new Uint32Array(MAX_CODES);
  const lengths = new Uint32Array(MAX_CODES);
  const early = earlyChange ? 1 : 0;
  let decoded = Buffer.alloc(Math.min(maxBytes, data.length * 4));
  let length = 0;
  let next = END + 1;
  let width = 9;
  let previous = -1;
  let bits = 0;
  let count = 0;
  for (const byte of data) {
    bits = ((bits << 8) | byte) & 0xfffff;
    count += 8;
    if (count < width) continue;
    count -= width;
    const code = (bits >> count) & ((1 << width) - 1);
    if (code === END) break;
    if (code === CLEAR) {
      [next, width, previous] = [END + 1, 9, -1];
      continue;
    }
    if (previous !== -1 && next < MAX_CODES) {
      starts[next] = previous;
      lengths[next] = length - previous + 1;
      next++;
      if (next + early >= 1 << width && width < 12) width++;
    }
    if (code > END && code >= next) break;
    const from = starts[code] ?? 0;
    const bytes = code < CLEAR ? 1 : (lengths[code] ?? 0);
    if (length + bytes > decoded.length) {
      if (length + bytes > maxBytes) return null;
      decoded = Buffer.concat([decoded], Math.min(maxBytes, 2 * (length + bytes)));
    }
    previous = length;
    // Byte by byte: a string may overlap its copy.
    if (code < CLEAR) decoded[length++] = code;
    else for (let index = 0; index < bytes; index++) decoded[length++] = decoded[from + index] ?? 0;
  }
  return decoded.subarray(0, length);
}

const TIFF = 2;
const FIRST_PNG = 10;

/**
 * Undoes the predictor that the parameters of Flate and LZW name. Parameters that are not valid give nothing, and so does
 * TIFF's predictor for samples of other than 8 or 16 bits.
 *
 * Sources: ISO 32000-1, section 7.4.4.4; PNG, section 9; TIFF 6.0, section 14.
 */
export function undoPredictor(data: Buffer, numberOf: (key: string) => number | undefined): Buffer {
  const predictor = numberOf("Predictor") ?? 1;
  const sampleBits = numberOf("BitsPerComponent") ?? 8;
  const bits = (numberOf("Colors") ?? 1) * sampleBits;
  const rowBytes = Math.ceil((bits * (numberOf("Columns") ?? 1)) / 8);
  const pixelBytes = Math.max(1, bits >> 3);
  if (predictor !== TIFF && predictor < FIRST_PNG) return data;
  if (!(rowBytes > 0) || (predictor === TIFF && sampleBits !== 8 && sampleBits !== 16))
    return Buffer.alloc(0);
  return predictor === TIFF
    ? undoTiff(data, rowBytes, pixelBytes, sampleBits === 16)
    : undoPng(data, rowBytes, pixelBytes);
}

function undoTiff(data: Buffer, rowBytes: number, pixelBytes: number, isWide: boolean): Buffer {
  const rows = Buffer.from(data);
  const step = isWide ? 2 : 1;
  for (let start = 0; start < rows.length; start += rowBytes) {
    const end = Math.min(rows.length, start + rowBytes) - step;
    for (let at = start + pixelBytes; at <= end; at += step) {
      if (isWide)
        rows.writeUInt16BE((rows.readUInt16BE(at) + rows.readUInt16BE(at - pixelBytes)) & 0xffff, at);
      else rows[at] = (rows[at] ?? 0) + (rows[at - pixelBytes] ?? 0);
    }
  }
  return rows;
}

/** Each row begins with its predictor: None, Sub, Up, Average or Paeth. The last one may be cut off. */
function undoPng(data: Buffer, rowBytes: number, pixelBytes: number): Buffer {
  const rows = Buffer.alloc(data.length - Math.ceil(data.length / (rowBytes + 1)));
  let source = 0;
  for (let start = 0; start < rows.length; start += rowBytes) {
    const predictor = data[source++] ?? 0;
    const end = Math.min(rows.length, start + rowBytes);
    for (let at = start; at < end; at++) {
      const isFirst = at < start + pixelBytes;
      const left = isFirst ? 0 : (rows[at - pixelBytes] ?? 0);
      const above = rows[at - rowBytes] ?? 0;
      const corner = isFirst ? 0 : (rows[at - rowBytes - pixelBytes] ?? 0);
      rows[at] = (data[source++] ?? 0) + predict(predictor, left, above, corner);
    }
  }
  return rows;
}

function predict(predictor: number, left: number, above: number, corner: number): number {
  switch (predictor) {
    case 1:
      return left;
    case 2:
      return above;
    case 3:
      return (left + above) >> 1;
    case 4:
      return paeth(left, above, corner);
    default:
      return 0;
  }
}

function paeth(left: number, above: number, corner: number): number {
  const fromLeft = Math.abs(above - corner);
  const fromAbove = Math.abs(left - corner);
  const fromCorner = Math.abs(left + above - 2 * corner);
  if (fromLeft <= fromAbove && fromLeft <= fromCorner) return left;
  return fromAbove <= fromCorner ? above : corner;
}
