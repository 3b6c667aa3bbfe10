import type { ContactField } from "./contact-fields.ts";

/** Texts of a line by field. Those that are empty are absent. */
export type FieldTexts = Partial<Record<ContactField, string>>;

/** What a line of a file tells of one address. */
export interface FileLine {
  /** From 1. */
  line: number;
  fields: FieldTexts;
  /** Pages, each of its own fields, beside that in `fields`. */
  sources: readonly FieldTexts[];
}

/** Why a line was left out. */
export type BadLineReason =
  /** Not so many columns as the first line. */
  | "columns"
  /** Bytes that are not UTF-8. */
  | "encoding"
  /** The file ends within it. */
  | "truncated"
  /** Not a JSON object. */
  | "json"
  /** Longer than a mebibyte. */
  | "too_long"
  /** No address, or none that is one. */
  | "address"
  /** A value that its field cannot have. */
  | "value";

/** A line that was left out. Nothing of what it says is in here. */
export interface BadLine {
  /** From 1; of a record that spans lines, its last. */
  line: number;
  reason: BadLineReason;
  /** The field, where one is to blame. */
  field?: ContactField;
}

/** Bytes of one line, or one record of CSV, at most. */
export const MAX_LINE_BYTES = 1_048_576;

/** What stands in for bytes that are not UTF-8. */
export const REPLACEMENT = "\uFFFD";
