import type { ContactField, FieldMapping, FieldTexts } from "./contact-fields.ts";
import type { FieldPlan } from "./field-plan.ts";

/** A line of a file as it is written: a value for each column. */
export interface FileRow {
  /** Line number, from 1. */
  line: number;
  columns: readonly string[];
  cells: readonly unknown[];
  /** Further pages, each an object. */
  sources?: readonly unknown[];
  /** @default by the columns */
  plan?: FieldPlan;
}

/** Reads rows in batches. `onColumns` receives the columns of a header, also of one without rows. */
export type RowReader = (
  input: AsyncIterable<string>,
  mapping: FieldMapping,
  onColumns: LineReports["onColumns"],
) => AsyncGenerator<(FileRow | BadLine)[]>;

/** A line of a file, about one address. */
export interface FileLine {
  /** Line number, from 1. */
  line: number;
  fields: FieldTexts;
  /** Further pages, each with its fields, in addition to the page in `fields`. */
  sources: readonly FieldTexts[];
}

/** What a reader of lines reports. */
export interface LineReports {
  onBad: (line: BadLine) => void;
  /** Receives a column or key with a text that was not taken. */
  onUnused: (column: string) => void;
  /** Receives the columns or keys of the following lines. @default ignored */
  onColumns?: (columns: readonly string[], plan: FieldPlan) => void;
}

/** Why a line was left out. */
export type BadLineReason =
  /** The number of columns differs from the first line, or a cell contains further lines. */
  | "columns"
  /** The line contains the character that replaces damaged ones. */
  | "encoding"
  /** The file ends within the line. */
  | "truncated"
  /** The line is not a JSON object. */
  | "json"
  /** The lines are not a vCard. */
  | "vcard"
  /** The line, or the entry of several lines, is longer than 1 MiB. */
  | "too_long"
  /** The address is missing or invalid. */
  | "address"
  /** A value is not valid for its field, or it is one of several: the line was imported without it. */
  | "value";

/** A rejected line or value. It never contains the content. */
export interface BadLine {
  /** Line number, from 1; the last line of a record that spans several. */
  line: number;
  reason: BadLineReason;
  /** The field with the invalid value, if it is known. */
  field?: ContactField;
}

/** Maximum length of a line or of a CSV record, in characters. */
export const MAX_LINE_LENGTH = 1_048_576;
