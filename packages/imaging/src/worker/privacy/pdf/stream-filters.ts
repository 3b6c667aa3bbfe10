import { inflateSync } from "node:zlib";
import { entryOf, type PdfValue } from "./pdf-value.ts";

/** The filters of a stream in the order in which they are undone; `null` where that cannot be told. */
export function filtersOf(dictionary: PdfValue): string[] | null {
  const filter = entryOf(dictionary, "Filter") ?? entryOf(dictionary, "F");
  if (filter === undefined) return [];
  if (filter.kind === "name") return [longName(filter.text)];
  if (filter.kind !== "array") return null;
  const names = filter.items.map((item) => (item.kind === "name" ? longName(item.text) : ""));
  return names.includes("") ? null : names;
}

/** Undoes Flate without a predictor; `null` for damaged data and for more than `maxBytes`. */
export function inflate(data: Buffer, maxBytes: number): Buffer | null {
  try {
    return inflateSync(data, { maxOutputLength: maxBytes });
  } catch {
    // Damaged: the caller has other ways.
    return null;
  }
}

/** Abbreviations are for inline images, but readers take them anywhere. */
function longName(name: string): string {
  if (name === "Fl") return "FlateDecode";
  return name === "DCT" ? "DCTDecode" : name;
}
