import { ServiceError } from "@outrigger/core";
import type { FieldMapping } from "./contact-fields.ts";
import { readCsv } from "./csv-lines.ts";
import { textOf } from "./file-encoding.ts";
import type { FileLine, LineReports } from "./file-line.ts";
import { readNdjson } from "./ndjson-lines.ts";
import { RowFields } from "./row-fields.ts";
import { readVcards } from "./vcard-lines.ts";

const READERS = { csv: readCsv, ndjson: readNdjson, vcard: readVcards };

export const CONTACT_FORMATS = ["csv", "ndjson", "vcard"] as const;
/** A format of files of contacts. */
export type ContactFormat = (typeof CONTACT_FORMATS)[number];

/** How a file is read. The format is by default found by its content. */
export interface ReadOptions {
  format: ContactFormat | undefined;
  encoding: string | undefined;
  mapping: FieldMapping;
}

/** Reads a file in batches of lines. */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  { format, encoding, mapping }: ReadOptions,
  reports: LineReports,
): AsyncGenerator<FileLine[]> {
  const texts = textOf(input, encoding);
  const fields = new RowFields(mapping, reports);
  try {
    const { value: first = "" } = await texts.next();
    const read = READERS[format ?? formatOf(first)];
    for await (const rows of read(joined(first, texts), mapping, reports.onColumns)) {
      for (const row of rows) if ("reason" in row) reports.onBad(row);
      yield rows.flatMap((row) => ("reason" in row ? [] : [fields.line(row)]));
    }
  } finally {
    await texts.return(undefined);
  }
}

async function* joined(first: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* others;
}

/** The format of a text by its start. Throws `bad_request` for LDIF: its lines would pass for rows of a table. */
function formatOf(text: string): ContactFormat {
  if (/^\s*(?:version: *1\s+)?dn::? /i.test(text))
    throw new ServiceError("bad_request", "The file is LDIF: export the contacts as CSV or vCard");
  if (/^\s*BEGIN:VCARD/i.test(text)) return "vcard";
  return /^\s*\{\s*["}]/.test(text) ? "ndjson" : "csv";
}
