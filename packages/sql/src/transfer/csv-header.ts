import { ServiceError } from "@outrigger/core";
import { type Info, type Options, parse } from "csv-parse/sync";
import { EVERYDAY } from "./column-names.ts";
import type { FieldMapping } from "./contact-fields.ts";
import { type FieldPlan, planFields } from "./field-plan.ts";

/** Where the table of a file begins, and how it is written. */
export interface CsvHeader {
  separator: string;
  columns: readonly string[];
  plan: FieldPlan;
  /** Bytes and lines up to the end of the header. */
  bytes: number;
  lines: number;
}

/** Shared by the search of the header and the reading of lines. */
export const SYNTAX = {
  bom: true,
  relax_column_count: true,
  // A stray quotation mark is read as text. Otherwise everything up to the next one would be lost.
  relax_quotes: true,
  skip_empty_lines: true,
} as const satisfies Options;

const SEPARATORS = [",", ";", "\t", "|"];
/** The line by which a spreadsheet names the separator. */
const SEPARATOR_LINE = /^\uFEFF?"?sep=(.)"?(?:\r\n?|\n)/i;
/** Records before the header, such as a title, notes or a date. */
const MAX_PREAMBLE = 50;
const MAX_NAMED = 30;

/**
 * Finds the header: the first record that names a column of addresses, or else of domains or everyday words that may mean an
 * address. The separator is the one that `sep=` names, or that gives the most columns.
 *
 * @param start UTF-8: the first bytes of the file.
 * @returns `null` for a file without text.
 * @throws ServiceError `bad_request` without such a record.
 */
export function findHeader(start: Uint8Array, mapping: FieldMapping): CsvHeader | null {
  const [line = "", named] = SEPARATOR_LINE.exec(Buffer.from(start.subarray(0, 20)).toString()) ?? [];
  const skipped = Buffer.byteLength(line);
  const table = start.subarray(skipped);
  const candidates: (CsvHeader & { rank: number })[] = [];
  for (const separator of named === undefined ? SEPARATORS : [named]) {
    let [mostFilled, hasPerson] = [0, false];
    for (const { record, info } of recordsOf(table, separator)) {
      const plan = planFields(record, mapping);
      const filled = record.filter((cell) => cell.trim() !== "").length;
      const isAddressed = record.some(hasAddress);
      // Below a person, a record that is no fuller than those above is another person, unless the user named its column.
      const isPerson = isAddressed || (hasPerson && filled <= mostFilled && mapping.address === undefined);
      const rank = isPerson ? Number.POSITIVE_INFINITY : rankOf(plan);
      hasPerson ||= isAddressed && filled > 1;
      mostFilled = Math.max(mostFilled, filled);
      const place = { bytes: skipped + info.bytes, lines: info.lines + (skipped > 0 ? 1 : 0) };
      candidates.push({ separator, columns: record, plan, rank, ...place });
      if (rank === 0) break;
    }
  }
  candidates.sort((a, b) => a.rank - b.rank || a.bytes - b.bytes || b.columns.length - a.columns.length);
  const [best = null] = candidates;
  if (best === null || best.rank < Number.POSITIVE_INFINITY) return best;
  candidates.sort((a, b) => b.columns.length - a.columns.length || a.bytes - b.bytes);
  throw withoutAddresses(candidates[0]?.columns ?? []);
}

function recordsOf(table: Uint8Array, separator: string): { record: string[]; info: Info }[] {
  const found: { record: string[]; info: Info }[] = [];
  parse(Buffer.from(table), {
    ...SYNTAX,
    delimiter: separator,
    to: MAX_PREAMBLE,
    skip_records_with_error: true,
    on_record(record: string[], info) {
      found.push({ record, info });
      return null;
    },
  });
  return found;
}

/** Whether a text contains an address. */
export function hasAddress(cell: string): boolean {
  return /@[^\s@]+\.[a-z]/i.test(cell);
}

/** 0 for a column of addresses, 1 for one that may be; infinite without both. */
function rankOf({ fields }: FieldPlan): number {
  const rank = fields.get("address")?.[0]?.rank;
  if (rank !== undefined && rank < EVERYDAY) return 0;
  return rank !== undefined || fields.has("domain") ? 1 : Number.POSITIVE_INFINITY;
}

function withoutAddresses(columns: readonly string[]): ServiceError {
  const names = columns.filter((column) => column.trim() !== "").slice(0, MAX_NAMED);
  const found = names.map((column) => JSON.stringify(column.slice(0, 100))).join(", ") || "no columns";
  return new ServiceError(
    "bad_request",
    `No line names a column of addresses. Found ${found}. ` +
      "Name the column with --map address=<column>, in code with `mapping`.",
  );
}
