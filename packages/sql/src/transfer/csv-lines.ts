import { ServiceError } from "@outrigger/core";
import { type Info, type Parser, parse } from "csv-parse";
import { type CsvHeader, findHeader, hasAddress, SYNTAX } from "./csv-header.ts";
import { type BadLine, type FileRow, MAX_LINE_LENGTH, type RowReader } from "./file-line.ts";

/**
 * Reads CSV (RFC 4180), also separated by semicolons or tabs, and with lines before the header, which must be in the first part
 * of `input`. Rejects with `bad_request` if there is no column of addresses or domains, or if a record exceeds 1 MiB.
 */
export const readCsv: RowReader = async function* (input, mapping, onColumns) {
  let rows: (FileRow | BadLine)[] = [];
  let parser: Parser | null = null;
  let hasEnded = false;

  function start(header: CsvHeader): Parser {
    const { columns, plan, separator, records } = header;
    const reject = (line: number) => rows.push({ line, reason: hasEnded ? "truncated" : "columns" });
    const parser = parse({
      ...SYNTAX,
      delimiter: separator,
      max_record_size: MAX_LINE_LENGTH,
      from: records + 1,
      on_record(record: string[], { lines: line }: Info) {
        if (record.every(isBlank)) return null;
        // A separator at the end of a line makes an empty cell.
        const isWhole = record.length >= columns.length && record.slice(columns.length).every(isBlank);
        if (!isWhole || record.some((cell) => hasRow(cell, header))) reject(line);
        else rows.push({ line, columns, cells: record.map(plainText), plan });
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
    return parser.resume();
  }

  try {
    for await (const text of input) {
      const header = parser === null ? findHeader(text, mapping) : null;
      if (header !== null) {
        parser = start(header);
        onColumns?.(header.columns, header.plan);
      }
      await settled((done) => (parser === null ? done() : parser.write(text, done)));
      yield rows;
      rows = [];
    }
    hasEnded = true;
    await settled((done) => (parser === null ? done() : parser.end(done)));
  } finally {
    parser?.destroy();
  }
  yield rows;
};

function isBlank(cell: string): boolean {
  return cell.trim() === "";
}

/** Whether a cell contains further rows of the table, because a stray quotation mark began it. */
function hasRow(cell: string, { separator, columns }: CsvHeader): boolean {
  if (columns.length === 1 || !/[\r\n]/.test(cell)) return false;
  const [, ...further] = cell.split(/[\r\n]+/);
  return further.some((line) => hasAddress(line) && line.split(separator).length === columns.length);
}

/** The text without the apostrophes that `exportContacts` writes where a spreadsheet would run a formula. */
function plainText(cell: string): string {
  return cell.includes("'") ? cell.replace(/^'(?=[=+\-@\t\r\n])|(?<=[;\t\r\n])'(?=[=+\-@])/g, "") : cell;
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
