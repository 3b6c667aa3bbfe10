import { ServiceError } from "@outrigger/core";
import { CsvError, type Info, parse } from "csv-parse";
import {
  CONTACT_FIELDS,
  type FieldMapping,
  type FieldPlan,
  planFields,
  takeFields,
} from "./contact-fields.ts";
import { type FileLine, type LineReports, MAX_LINE_BYTES, REPLACEMENT } from "./file-line.ts";

/**
 * Reads CSV (RFC 4180) whose first line names the columns, in batches of lines. Rejects with `bad_request` if there
 * is no column of addresses or domains, or if a record exceeds 1 MiB.
 */
export async function* readCsv(
  input: AsyncIterable<Uint8Array>,
  mapping: FieldMapping,
  { onBad, onUnused }: LineReports,
): AsyncGenerator<FileLine[]> {
  let lines: FileLine[] = [];
  let header: { columns: readonly string[]; plan: FieldPlan } | null = null;
  let hasEnded = false;

  const parser = parse({
    bom: true,
    max_record_size: MAX_LINE_BYTES,
    relax_column_count: false,
    // A stray quotation mark is read as text. Otherwise everything up to the next one would be lost.
    relax_quotes: true,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record(record: string[], { lines: line }: Info) {
      if (header === null) header = { columns: record, plan: planOf(record, mapping) };
      else addLine(record, line, header);
      return null;
    },
    on_skip(error) {
      // The parser would continue in the middle of the record.
      if (codeOf(error) === "CSV_MAX_RECORD_SIZE") throw endless(error);
      const line = error instanceof CsvError && typeof error.lines === "number" ? error.lines : 0;
      onBad({ line, reason: hasEnded ? "truncated" : "columns" });
      return undefined;
    },
  });
  parser.on("error", () => undefined); // `write` and `end` report the error.
  parser.resume();

  function addLine(record: string[], line: number, { columns, plan }: NonNullable<typeof header>): void {
    const fields = takeFields(
      plan,
      (index) => record[index]?.replace(NEUTRALISED, ""),
      (index) => onUnused(columns[index] ?? ""),
    );
    const field = CONTACT_FIELDS.find((each) => fields[each]?.includes(REPLACEMENT) === true);
    if (field === undefined) lines.push({ line, fields, sources: [], dropped: [] });
    else onBad({ line, reason: "encoding", field });
  }

  function taken(): FileLine[] {
    const full = lines;
    lines = [];
    return full;
  }

  try {
    for await (const chunk of input) {
      await settled((done) => parser.write(chunk, done));
      if (lines.length > 0) yield taken();
    }
    hasEnded = true;
    await settled((done) => parser.end(done));
  } finally {
    parser.destroy();
  }
  if (lines.length > 0) yield taken();
}

/** The apostrophe that `exportContacts` writes before a text that a spreadsheet would run. */
const NEUTRALISED = /^'(?=[=+\-@\t\r])/;

function planOf(header: readonly string[], mapping: FieldMapping): FieldPlan {
  const plan = planFields(header, mapping);
  if (!plan.has("address") && !plan.has("domain")) {
    throw new ServiceError(
      "bad_request",
      "The first line names no column of addresses: name it with --map address=<column>, in code with `mapping`.",
    );
  }
  return plan;
}

function endless(error: Error | undefined): ServiceError {
  return new ServiceError(
    "bad_request",
    `A record of the file is longer than ${MAX_LINE_BYTES} bytes: a quotation mark may be missing.`,
    { cause: error },
  );
}

function codeOf(error: Error | undefined): string {
  return error instanceof CsvError ? error.code : "";
}

function settled(work: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    work((error) => (error ? reject(error) : resolve()));
  });
}
