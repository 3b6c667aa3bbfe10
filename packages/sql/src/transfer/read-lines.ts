import type { FieldMapping } from "./contact-fields.ts";
import { readCsv } from "./csv-lines.ts";
import { toUtf8 } from "./file-encoding.ts";
import type { FileLine, LineReports } from "./file-line.ts";
import { readLdif } from "./ldif-lines.ts";
import { readNdjson } from "./ndjson-lines.ts";
import { readVcards } from "./vcard-lines.ts";

const READERS = { csv: readCsv, ndjson: readNdjson, vcard: readVcards, ldif: readLdif };

export const CONTACT_FORMATS = ["csv", "ndjson", "vcard", "ldif"] as const;
/** A format of files of contacts. */
export type ContactFormat = (typeof CONTACT_FORMATS)[number];

/** How a file is read. Format and encoding are by default found by its content. */
export interface ReadOptions {
  format: ContactFormat | undefined;
  encoding: string | undefined;
  mapping: FieldMapping;
}

/** What a reader of files reports. */
export interface FileReports extends LineReports {
  /** Receives the name of the encoding once, unless the file is ASCII. */
  onEncoding: (name: string) => void;
}

/** Reads a file in batches of lines. */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  { format, encoding, mapping }: ReadOptions,
  reports: FileReports,
): AsyncGenerator<FileLine[]> {
  const pieces = toUtf8(input, encoding, reports.onEncoding);
  try {
    const { value: first = Buffer.alloc(0) } = await pieces.next();
    yield* READERS[format ?? formatOf(first)](joined(first, pieces), mapping, reports);
  } finally {
    await pieces.return(undefined);
  }
}

async function* joined(first: Uint8Array, others: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* others;
}

/** Lines of an LDIF file before its first entry: comments, their continuations, the version. */
const LDIF = /^(?:(?:#.*(?:\r?\n .*)*|version: *\d+ *)?\r?\n)*dn::? /i;

/** The format of UTF-8 text by its start. */
function formatOf(start: Uint8Array): ContactFormat {
  const text = new TextDecoder().decode(start).trimStart();
  if (/^BEGIN:VCARD/i.test(text)) return "vcard";
  if (/^\{\s*["}]/.test(text)) return "ndjson";
  return LDIF.test(text) ? "ldif" : "csv";
}
