import { constants, inflateRawSync, inflateSync } from "node:zlib";
import { decodePDFRawStream, PDFContext, PDFRawStream } from "./library.ts";

/** White space of PDF (ISO 32000-1, table 1). */
const SPACES: ReadonlySet<number | undefined> = new Set(Buffer.from("\0\t\n\f\r "));

export function isSpace(byte: number | undefined): boolean {
  return SPACES.has(byte);
}

const CHUNK_BYTES = 65_536;

/**
 * Decodes data by a filter that gives bytes, not pixels (ISO 32000-1, 7.4), without its predictor: up to the end marker or as far
 * as possible. Damaged Flate and other filters give nothing. `null` for more than `maxBytes`.
 */
export function decodeFilter(
  name: string,
  data: Buffer,
  maxBytes: number,
  earlyChange: boolean,
): Buffer | null {
  // In a file that is not encrypted, it changes nothing.
  if (name === "Crypt") return data;
  if (name === "FlateDecode") return inflateCut(data, maxBytes);
  const parameters = { EarlyChange: earlyChange ? 1 : 0 };
  const dictionary = PDFContext.create().obj({ Filter: name, DecodeParms: parameters });
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    const stream = decodePDFRawStream(PDFRawStream.of(dictionary, data));
    for (;;) {
      const part = stream.getBytes(CHUNK_BYTES);
      if (part.length === 0) return Buffer.concat(parts, length);
      length += part.length;
      if (length > maxBytes) return null;
      parts.push(Buffer.from(part));
    }
  } catch {
    return Buffer.concat(parts, length); // Damaged, or no filter of the library.
  }
}

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
