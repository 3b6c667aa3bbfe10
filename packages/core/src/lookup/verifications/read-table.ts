import { setImmediate as breathe } from "node:timers/promises";
import type { CsvError, Info } from "csv-parse";
import type { VerificationRow } from "../../contracts/verification-queue.ts";
import { mainAddress, normaliseAddress } from "../address/parse-address.ts";
import { LookupProblem } from "../lookup-problem.ts";

/** Maximum number of rows of a list. */
export const MAX_ROWS = 100_000;

/** The rows of a list to be verified. */
export interface ReadList {
  /** Names of the columns; `null` for a list of addresses only. */
  header: readonly string[] | null;
  rows: readonly VerificationRow[];
}

/** Number of characters that are parsed without a pause. */
const SLICE = 65_536;
const MAX_RECORD_CHARACTERS = 65_536;

/**
 * Reads CSV (RFC 4180) whose first line names the columns, separated by commas, semicolons or tabs. Rejects
 * with `wrong_params` if the text is malformed, has no column of addresses, no row, or more than
 * {@link MAX_ROWS}.
 */
export async function readTable(text: string): Promise<ReadList> {
  let header: string[] | null = null;
  let column = -1;
  const rows: VerificationRow[] = [];
  // Most processes never read a list.
  const csv = await import("csv-parse");

  const parser = csv.parse({
    bom: true,
    delimiter: delimiterOf(text),
    max_record_size: MAX_RECORD_CHARACTERS,
    // A stray quotation mark is read as text.
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_empty_values: true,
    on_record(record: string[], _: Info) {
      const cells = record.map(storable);
      if (header === null) {
        header = cells;
        column = requireEmailColumn(cells);
      } else {
        requireRoom(rows.length);
        rows.push(tableRow(cells, column));
      }
      return null;
    },
  });
  parser.on("error", () => undefined); // `write` and `end` report the error.
  parser.resume();
  try {
    for (let start = 0; start < text.length; start += SLICE) {
      await settled((done) => parser.write(text.slice(start, start + SLICE), done));
      await breathe();
    }
    await settled((done) => parser.end(done));
  } catch (error) {
    throw error instanceof csv.CsvError ? malformed(error) : error;
  } finally {
    parser.destroy();
  }
  requireRows(rows.length);
  return { header, rows };
}

/** The rows of a list of addresses. Rejects with `wrong_params` for any other value. */
export function readAddresses(emails: unknown): ReadList {
  if (!Array.isArray(emails)) throw wrong("emails must be an array of addresses");
  requireRows(emails.length);
  requireRoom(emails.length - 1);
  const rows = emails.map((email: unknown, index) => {
    if (typeof email !== "string") throw wrong(`emails[${index}] must be a string`);
    return rowOf(storable(email).trim(), null);
  });
  return { header: null, rows };
}

/** The index of the column of addresses; -1 if there is none. */
export function emailColumnOf(header: readonly string[]): number {
  const names = header.map((name) => name.trim().toLowerCase());
  for (const form of [/^email$/, /^e?[-_ ]?mail(?:[-_ ]?address)?(?:es|s)?$/, /e-?mail/]) {
    const index = names.findIndex((name) => form.test(name));
    if (index !== -1) return index;
  }
  return -1;
}

function requireEmailColumn(header: readonly string[]): number {
  const column = emailColumnOf(header);
  if (column === -1) throw wrong("The first line must name the columns, one of them email");
  return column;
}

/** The cell of the address stays empty: the row has it already. */
function tableRow(cells: string[], column: number): VerificationRow {
  const email = (cells[column] ?? "").trim();
  cells[column] = "";
  return rowOf(email, cells);
}

function rowOf(email: string, columns: readonly string[] | null): VerificationRow {
  const address = normaliseAddress(email);
  return { email, subject: address === null ? null : mainAddress(address), columns, result: null };
}

/** Without characters that no database stores: NUL and lone surrogates. */
function storable(text: string): string {
  return text.replaceAll("\0", "").replaceAll(LONE_SURROGATE, "\uFFFD");
}

const LONE_SURROGATE = /\p{Surrogate}/gu;

function requireRoom(count: number): void {
  if (count >= MAX_ROWS) throw wrong(`A list has at most ${MAX_ROWS} addresses`);
}

function requireRows(count: number): void {
  if (count === 0) throw wrong("The list has no addresses");
}

/** The separator of the first line: a comma, unless the line has none. */
function delimiterOf(text: string): string {
  const [line = ""] = text.slice(0, MAX_RECORD_CHARACTERS).split(/[\r\n]/, 1);
  return [",", ";", "\t"].find((each) => line.includes(each)) ?? ",";
}

function malformed(error: CsvError): LookupProblem {
  const line = typeof error.lines === "number" ? ` in line ${error.lines}` : "";
  return wrong(`The CSV is malformed${line}: ${CSV_FAULTS[error.code] ?? "it cannot be read"}`);
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_RECORD_INCONSISTENT_FIELDS_LENGTH: "it has another number of columns than the first line",
  CSV_QUOTE_NOT_CLOSED: "a quotation mark is not closed",
  CSV_MAX_RECORD_SIZE: `it is longer than ${MAX_RECORD_CHARACTERS} characters`,
};

function wrong(message: string): LookupProblem {
  return new LookupProblem("wrong_params", message);
}

function settled(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    work((error) => (error ? reject(error) : resolve()));
  });
}
