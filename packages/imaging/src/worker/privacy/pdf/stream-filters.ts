import type { PDFObject } from "./library.ts";
import { entryOf, itemsOf, nameOf, numberOf, type Resolve } from "./pdf-values.ts";
import { decodeFilter, undoPredictor } from "./stream-decoders.ts";

/** More than any writer uses for one stream. */
export const MAX_FILTERS = 8;
/** Flate, the densest filter, gives at most so many bytes for one. */
const MAX_RATIO = 1032;

const longNames: ReadonlyMap<string, string> = new Map([
  ["AHx", "ASCIIHexDecode"],
  ["A85", "ASCII85Decode"],
  ["LZW", "LZWDecode"],
  ["Fl", "FlateDecode"],
  ["RL", "RunLengthDecode"],
  ["DCT", "DCTDecode"],
]);

/** A filter with its parameters. */
export interface Filter {
  /** The full name. Abbreviations are meant for inline images, but readers accept them anywhere. */
  name: string;
  parameters: PDFObject | undefined;
}

/** The filters of a stream in decoding order. `null` when they cannot be read, and for too many. */
export function filtersOf(dictionary: PDFObject, resolve: Resolve): Filter[] | null {
  return listFilters(entryOf(dictionary, "Filter"), entryOf(dictionary, "DecodeParms"), resolve);
}

/** The filters of an inline image. */
export function inlineFiltersOf(dictionary: PDFObject): Filter[] | null {
  const filter = entryOf(dictionary, "Filter") ?? entryOf(dictionary, "F");
  return listFilters(filter, entryOf(dictionary, "DecodeParms") ?? entryOf(dictionary, "DP"), (same) => same);
}

function listFilters(
  filter: PDFObject | undefined,
  decodeParms: PDFObject | undefined,
  resolve: Resolve,
): Filter[] | null {
  const [listed, parameters] = [resolve(filter), resolve(decodeParms)];
  if (listed === undefined) return [];
  const single = nameOf(listed);
  if (single !== undefined) return [{ name: longNames.get(single) ?? single, parameters }];
  const names = itemsOf(listed);
  if (names.length > MAX_FILTERS) return null;
  const filters = names.map((item, index) => {
    const name = nameOf(resolve(item)) ?? "";
    // Readers ignore parameters that are no list.
    return { name: longNames.get(name) ?? name, parameters: resolve(itemsOf(parameters)[index]) };
  });
  return filters.some(({ name }) => name === "") ? null : filters;
}

/** Bytes that may still be decoded, and at most for one filter. */
export interface DecodeBudget {
  bytes: number;
  maxBytes: number;
}

/**
 * Undoes `filters`, the first ones of a stream, and charges `budget` for what each gives. Other filters, damaged
 * Flate and invalid predictors give nothing. `null` for an exhausted budget.
 */
export function decodeStream(
  stored: Buffer,
  filters: readonly Filter[],
  { budget, resolve }: { budget: DecodeBudget; resolve: Resolve },
): Buffer | null {
  let content: Buffer = stored;
  for (const { name, parameters } of filters) {
    const parameter = (key: string): number | undefined => numberOf(resolve(entryOf(parameters, key)));
    const maxBytes = Math.max(0, Math.min(budget.maxBytes, budget.bytes));
    const decoded = decodeFilter(name, content, maxBytes, parameter("EarlyChange") !== 0);
    // Damage shows only after other bytes were decoded.
    const isKnown = decoded !== null && decoded.length > 0;
    budget.bytes -= isKnown ? decoded.length : Math.min(maxBytes, content.length * MAX_RATIO);
    if (decoded === null) return null;
    const isPredicted = name === "FlateDecode" || name === "LZWDecode";
    content = isPredicted ? undoPredictor(decoded, parameter) : decoded;
  }
  return content;
}
