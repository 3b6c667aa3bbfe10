import type { ContactField, FieldTexts } from "./contact-fields.ts";

/** A line of a file, about one address. */
export interface FileLine {
  /** Line number, from 1. */
  line: number;
  fields: FieldTexts;
  /** Further pages, each with its fields, in addition to the page in `fields`. */
  sources: readonly FieldTexts[];
  /** Fields whose value is not a text. */
  dropped: readonly ContactField[];
}

/** What a reader of lines reports. */
export interface LineReports {
  onBad: (line: BadLine) => void;
  /** Receives a column or key whose text was not taken, because another one gave the same field. */
  onUnused: (column: string) => void;
}

/** Why a line was left out. */
export type BadLineReason =
  /** The number of columns differs from the first line. */
  | "columns"
  /** The line contains bytes that are not UTF-8. */
  | "encoding"
  /** The file ends within the line. */
  | "truncated"
  /** The line is not a JSON object. */
  | "json"
  /** The line is longer than 1 MiB. */
  | "too_long"
  /** The address is missing or invalid. */
  | "address"
  /** A value is not valid for its field: the line was imported without it. */
  | "value";

/** A rejected line or value. It never contains the content. */
export interface BadLine {
  /** Line number, from 1; the last line of a record that spans several. */
  line: number;
  reason: BadLineReason;
  /** The field with the invalid value, if it is known. */
  field?: ContactField;
}

/** Maximum length of a line or of a CSV record, in bytes. */
export const MAX_LINE_BYTES = 1_048_576;

/** The character that replaces bytes that are not UTF-8. */
export const REPLACEMENT = "\uFFFD";
