import { ServiceError } from "@outrigger/core";
import { type Options, parse } from "csv-parse/sync";
import { EVERYDAY } from "./column-names.ts";
import type { FieldMapping } from "./contact-fields.ts";
import { type FieldPlan, planFields } from "./field-plan.ts";

/** The columns of a file, and how it is written. */
export interface CsvHeader {
  separator: string;
  columns: readonly string[];
  plan: FieldPlan;
  /** Number of records up to the header. */
  records: number;
}

/** Shared by the search of the header and the reading of lines. */
export const SYNTAX = {
  relax_column_count: true,
  // A stray quotation mark is read as text. Otherwise everything up to the next one would be lost.
  relax_quotes: true,
  skip_empty_lines: true,
  skip_records_with_error: true,
} as const satisfies Options;

const SEPARATORS = [",", ";", "\t"];
/** Records before the header, such as a title or notes. */
const MAX_PREAMBLE = 50;
const MAX_NAMED = 30;

/**
 * Finds the columns: by the first record that names a column of addresses, else by the first record that contains one, below its
 * header or without, else by a record that names domains or may name addresses. The separator gives the most columns.
 * @returns `null` for a file without text.
 * @throws ServiceError `bad_request` without such a record.
 */
export function findHeader(start: string, mapping: FieldMapping): CsvHeader | null {
  const tables = SEPARATORS.map((separator) => {
    const records: string[][] = parse(start, { ...SYNTAX, delimiter: separator, to: MAX_PREAMBLE });
    return { separator, records };
  });
  for (const way of [byName(EVERYDAY), byCells, byName(Number.POSITIVE_INFINITY)]) {
    const found = tables.flatMap(({ separator, records }) => {
      const header = way(records, mapping);
      return header === null ? [] : [{ ...header, separator }];
    });
    const [best] = found.sort((a, b) => b.columns.length - a.columns.length);
    if (best !== undefined) return best;
  }
  const [first] = tables.flatMap(({ records }) => records.slice(0, 1)).sort((a, b) => b.length - a.length);
  if (first === undefined) return null;
  throw withoutAddresses(first);
}

type Way = (records: readonly string[][], mapping: FieldMapping) => Omit<CsvHeader, "separator"> | null;

/** A record with the name of a column of addresses below a rank. One that is no fuller than a person above it is another person. */
const byName =
  (maxRank: number): Way =>
  (records, mapping) => {
    let mostFilled = 0;
    for (const [index, columns] of records.entries()) {
      const filled = columns.filter((cell) => cell.trim() !== "").length;
      const plan = planFields(columns, mapping);
      const rank = plan.get("address")?.[0]?.rank ?? (plan.has("domain") ? EVERYDAY : Number.NaN);
      if (columns.some(hasAddress)) mostFilled = Math.max(mostFilled, filled);
      else if (filled > mostFilled && rank < maxRank) return { columns, plan, records: index + 1 };
    }
    return null;
  };

/** The record above the first row with an address; without one, columns are named by the cells of that row. */
const byCells: Way = (records, mapping) => {
  const row = records.findIndex((record, index) => {
    return record.some(hasAddress) && (records[index + 1]?.length ?? record.length) === record.length;
  });
  const cells = records[row];
  if (cells === undefined || mapping.address !== undefined) return null;
  const above = records[row - 1];
  const isHeader = above?.length === cells.length;
  const columns = isHeader ? [...above] : cells.map((cell) => (/^\S+ \S+$/.test(cell.trim()) ? "Name" : ""));
  // An everyday name tells enough where its cell has an address.
  const named = planFields(columns, mapping)
    .get("address")
    ?.find(({ index }) => hasAddress(cells[index] ?? ""));
  const at = named?.index ?? cells.findIndex(hasAddress);
  const address = columns[at]?.trim() || "Email";
  columns[at] = address;
  return { columns, plan: planFields(columns, { ...mapping, address }), records: row };
};

/** Whether a text contains an address. */
export function hasAddress(cell: string): boolean {
  return /@[^\s@]+\.[a-z]/i.test(cell);
}

function withoutAddresses(columns: readonly string[]): ServiceError {
  const names = columns.filter((column) => column.trim() !== "").slice(0, MAX_NAMED);
  const found = names.map((column) => JSON.stringify(column.slice(0, 100))).join(", ") || "no columns";
  return new ServiceError(
    "bad_request",
    `No column has addresses. Found ${found}. ` +
      "Name the column with --map address=<column>, in code with `mapping`.",
  );
}
