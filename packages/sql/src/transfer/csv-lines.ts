import { ServiceError } from "@outrigger/core";
import { type Info, type Parser, parse } from "csv-parse";
import type { FieldMapping } from "./contact-fields.ts";
import { type CsvHeader, findHeader, hasAddress, SYNTAX } from "./csv-header.ts";
import { takeFields } from "./field-plan.ts";
import { type FileLine, type LineReports, MAX_LINE_LENGTH } from "./file-line.ts";

/**
 * Reads CSV (RFC 4180) in batches of lines, also separated by semicolons or tabs, and with lines before the header. Rejects with
 * `bad_request` if there is no column of addresses or domains, or if a record exceeds 1 MiB.
 *
 * @param input The header must be in the first part.
 */
export async function* readCsv(
  input: AsyncIterable<string>,
  mapping: FieldMapping,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  let lines: FileLine[] = [];
  let parser: Parser | null = null;
  let hasEnded = false;

  function start(header: CsvHeader): Parser {
    /** Columns that are of no field, and in which no text has been seen. */
    const unseen = new Set(header.plan.unknown);
    const reject = (line: number) => reports.onBad({ line, reason: hasEnded ? "truncated" : "columns" });
    const parser = parse({
      ...SYNTAX,
      delimiter: header.separator,
      max_record_size: MAX_LINE_LENGTH,
      from: header.records + 1,
      on_record(record: string[], info: Info) {
        const { length } = header.columns;
        if (record.every(isBlank)) return null;
        // A separator at the end of a line makes an empty cell.
        const isWhole =
          record.length === length || (record.length > length && record.slice(length).every(isBlank));
        if (isWhole && !record.some((cell) => hasRow(cell, header))) add(record, info.lines, header, unseen);
        else reject(info.lines);
        return null;
      },
      on_skip(error) {
        // The parser would continue in the middle of the record.
        if (error?.code === "CSV_MAX_RECORD_SIZE") throw endless(error);
        reject(typeof error?.lines === "number" ? error.lines : 0);
        return undefined;
      },
    });
    parser.on("error", () => undefined); // `write` and `end` report the error.
    parser.resume();
    return parser;
  }

  function add(record: string[], line: number, { columns, plan }: CsvHeader, unseen: Set<number>): void {
    const unused = (index: number) => reports.onUnused(columns[index] ?? "");
    const fields = takeFields(plan, (index) => plainText(record[index]), unused);
    for (const index of unseen) {
      if (isBlank(record[index] ?? "")) continue;
      unseen.delete(index);
      unused(index);
    }
    lines.push({ line, fields, sources: [], dropped: [], plan });
  }

  try {
    for await (const text of input) {
      const header = parser === null ? findHeader(text, mapping) : null;
      if (header !== null) {
        reports.onColumns?.(header.columns, header.plan);
        parser = start(header);
      }
      await settled((done) => (parser === null ? done() : parser.write(text, done)));
      if (lines.length > 0) yield lines;
      lines = [];
    }
    hasEnded = true;
    await settled((done) => (parser === null ? done() : parser.end(done)));
  } finally {
    parser?.destroy();
  }
  if (lines.length > 0) yield lines;
}

function isBlank(cell: string): boolean {
  return cell === "" || cell.trim() === "";
}

/** Whether a cell contains further rows of the table, because a stray quotation mark began it. */
function hasRow(cell: string, { separator, columns }: CsvHeader): boolean {
  if (columns.length === 1 || !/[\r\n]/.test(cell)) return false;
  const [, ...further] = cell.split(/[\r\n]+/);
  return further.some((line) => hasAddress(line) && line.split(separator).length === columns.length);
}

/** The text without the apostrophes that `exportContacts` writes where a spreadsheet would run a formula. */
function plainText(cell: string | undefined): string | undefined {
  return cell?.includes("'") ? cell.replace(/^'(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])'(?=[=+\-@])/g, "") : cell;
}

function endless(error: Error | undefined): ServiceError {
  return new ServiceError(
    "bad_request",
    `A record of the file is longer than ${MAX_LINE_LENGTH} characters: a quotation mark may be missing.`,
    { cause: error },
  );
}

function settled(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    work((error) => (error ? reject(error) : resolve()));
  });
}
