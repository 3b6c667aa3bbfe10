import { constants, deflateRawSync, deflateSync, inflateSync } from "node:zlib";
import { entryOf, type PdfValue } from "./pdf-value.ts";
import { decoders, undoPredictor } from "./stream-decoders.ts";

/** Looks up an indirect object; `undefined` for an unknown one. Any other value stands for itself. */
export type Resolve = (value: PdfValue | undefined) => PdfValue | undefined;

const asItIs: Resolve = (value) => value;

/** More than any writer uses for one stream. */
export const MAX_FILTERS = 8;

/** The filters of a stream or inline image in decoding order, at most one too many; `null` when they cannot be read. */
export function filtersOf(dictionary: PdfValue, resolve = asItIs): string[] | null {
  const filter = resolve(filterEntry(dictionary));
  if (filter === undefined) return [];
  if (filter.kind === "name") return [longName(filter.text)];
  if (filter.kind !== "array") return null;
  const names = filter.items.slice(0, MAX_FILTERS + 1).map((item) => {
    const name = resolve(item);
    return name?.kind === "name" ? longName(name.text) : "";
  });
  return names.includes("") ? null : names;
}

export function filterEntry(dictionary: PdfValue): PdfValue | undefined {
  return entryOf(dictionary, "Filter") ?? entryOf(dictionary, "F");
}

export function parametersEntry(dictionary: PdfValue): PdfValue | undefined {
  return entryOf(dictionary, "DecodeParms") ?? entryOf(dictionary, "DP");
}

/** Flate, the densest filter, gives at most so many bytes for one. */
const MAX_RATIO = 1032;

/** Bytes that may still be decoded, and at most for one filter. */
export interface DecodeBudget {
  bytes: number;
  maxBytes: number;
}

/**
 * Undoes `filters`, the first ones of a stream, and charges `budget` for what each gives. Other filters, damaged
 * Flate and invalid predictors give nothing. `null` for more than {@link MAX_FILTERS}, and an exhausted budget.
 */
export function decodeStream(
  dictionary: PdfValue,
  stored: Buffer,
  { filters, budget, resolve }: { filters: readonly string[]; budget: DecodeBudget; resolve: Resolve },
): Buffer | null {
  if (filters.length > MAX_FILTERS) return null;
  let content: Buffer = stored;
  for (const [index, filter] of filters.entries()) {
    const parameters = parametersOf(dictionary, index, resolve);
    const numberOf = (key: string): number | undefined => {
      const value = resolve(entryOf(parameters, key));
      return value?.kind === "number" ? value.value : undefined;
    };
    const maxBytes = Math.max(0, Math.min(budget.maxBytes, budget.bytes));
    const decode = decoders.get(filter);
    if (decode === undefined) return Buffer.alloc(0);
    const decoded = decode(content, maxBytes, numberOf("EarlyChange") !== 0);
    // Damage shows only after other bytes were decoded.
    const isKnown = decoded !== null && decoded.length > 0;
    budget.bytes -= isKnown ? decoded.length : Math.min(maxBytes, content.length * MAX_RATIO);
    if (decoded === null) return null;
    const isPredicted = filter === "FlateDecode" || filter === "LZWDecode";
    content = isPredicted ? undoPredictor(decoded, numberOf) : decoded;
  }
  return content;
}

/** The parameters of one filter. Readers ignore those of a list of filters that are no list. */
export function parametersOf(dictionary: PdfValue, index: number, resolve: Resolve): PdfValue | undefined {
  const parameters = resolve(parametersEntry(dictionary));
  if (resolve(filterEntry(dictionary))?.kind !== "array") return parameters;
  return parameters?.kind === "array" ? resolve(parameters.items[index]) : undefined;
}

/** Decodes Flate without a predictor; `null` for damaged data or more than `maxBytes`. */
export function inflate(data: Buffer, maxBytes: number): Buffer | null {
  try {
    return inflateSync(data, { maxOutputLength: maxBytes });
  } catch {
    // Damaged; the caller handles that.
    return null;
  }
}

const longNames: ReadonlyMap<string, string> = new Map([
  ["AHx", "ASCIIHexDecode"],
  ["A85", "ASCII85Decode"],
  ["LZW", "LZWDecode"],
  ["Fl", "FlateDecode"],
  ["RL", "RunLengthDecode"],
  ["DCT", "DCTDecode"],
]);

/** The full name of a filter. Abbreviations are meant for inline images, but readers accept them anywhere. */
function longName(name: string): string {
  return longNames.get(name) ?? name;
}

const ZLIB_HEADER = Buffer.of(0x78, 0xda);
const CHECKSUM_BYTES = 4;
const STORED_HEADER_BYTES = 5;
const MAX_STORED_BYTES = 0xffff;

/**
 * Compresses `content`, padded with zeros, to a zlib stream of exactly `length` bytes; `null` when it does not fit.
 *
 * Sources: RFC 1950; RFC 1951, section 3.2.4 (stored blocks).
 */
export function deflateToLength(content: Buffer, length: number): Buffer | null {
  // Ends on a byte boundary, without a final block.
  const compressed = deflateRawSync(content, { level: 9, finishFlush: constants.Z_SYNC_FLUSH });
  const room = length - ZLIB_HEADER.length - compressed.length - CHECKSUM_BYTES;
  const blocks = storedZeros(room);
  if (blocks === null) return null;
  const zeros = room - blocks.length * STORED_HEADER_BYTES;
  const checksum = checksumOf(Buffer.concat([content, Buffer.alloc(zeros)]));
  return Buffer.concat([ZLIB_HEADER, compressed, ...blocks, checksum]);
}

/** Stored blocks of zeros with `bytes` bytes in total; the last one is marked final. */
function storedZeros(bytes: number): Buffer[] | null {
  const count = Math.ceil(bytes / (STORED_HEADER_BYTES + MAX_STORED_BYTES));
  if (bytes < count * STORED_HEADER_BYTES || count < 1) return null;
  const blocks: Buffer[] = [];
  let zeros = bytes - count * STORED_HEADER_BYTES;
  for (let block = 1; block <= count; block++) {
    const length = Math.min(zeros, MAX_STORED_BYTES);
    zeros -= length;
    const stored = Buffer.alloc(STORED_HEADER_BYTES + length);
    stored.writeUInt8(block === count ? 1 : 0);
    stored.writeUInt16LE(length, 1);
    stored.writeUInt16LE(length ^ MAX_STORED_BYTES, 3);
    blocks.push(stored);
  }
  return blocks;
}

/** The Adler-32 checksum, which Node provides only at the end of a zlib stream. */
function checksumOf(content: Buffer): Buffer {
  return deflateSync(content, { level: 0 }).subarray(-CHECKSUM_BYTES);
}
