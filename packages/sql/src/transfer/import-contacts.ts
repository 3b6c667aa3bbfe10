import { ServiceError } from "@outrigger/core";
import { checkOptions, rules, shapes } from "@outrigger/core/stores";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { putBatch } from "../contacts/put-batch.ts";
import { refreshDomains } from "../contacts/refresh-contacts.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { CONTACT_FIELDS, type FieldMapping } from "./contact-fields.ts";
import { readCsv } from "./csv-lines.ts";
import type { BadLine, FileLine, LineReports } from "./file-line.ts";
import { newsOf } from "./line-news.ts";
import { readNdjson } from "./ndjson-lines.ts";
import { suppressedAmong } from "./suppressed-among.ts";

/** Progress of an import. Everything counted here is committed. */
export interface ImportProgress {
  /** Lines that were read: those with an address or a domain, and rejected ones. Empty lines do not count. */
  lines: number;
  /**
   * Added addresses. In `added`, `updated` and `unchanged`, an address in several batches counts once for
   * each.
   */
  added: number;
  updated: number;
  /** Addresses whose line contained nothing new. */
  unchanged: number;
  /** Addresses that `isSuppressed` excluded. */
  suppressed: number;
  /** Rejected lines; see `onBadLine`. */
  bad: number;
  /** Values that were invalid for their field, whose lines were imported without them; see `onBadLine`. */
  dropped: number;
  /** Up to 100 columns or keys with texts that were not imported, because another one gave the same field. */
  unused: readonly string[];
}

const COLUMN = rules.text("the name of a column or key");
const MAPPING: rules.Rule<FieldMapping> = rules.nested(
  Object.fromEntries(CONTACT_FIELDS.map((field) => [field, COLUMN])),
);
const RULES = {
  /** As in an export. */
  format: rules.required(rules.oneOf("csv", "ndjson")),
  /** Column or key of each field. @default the recognised names */
  mapping: MAPPING,
  /**
   * Receives each rejected line and each dropped value. `"fail"` ends the import with `bad_request` at the first one;
   * earlier lines may be committed.
   * @default they are counted
   */
  onBadLine: rules.value<"fail" | ((line: BadLine) => void)>(
    '"fail" or a function',
    (given) => given === "fail" || typeof given === "function",
  ),
  /** Receives the progress after each committed batch. @default ignored */
  onProgress: rules.fn<(progress: ImportProgress) => void>(),
  /** As in an export: suppressed addresses and domains are not imported. @default none */
  isSuppressed: rules.fn<(subjects: readonly string[]) => Promise<ReadonlySet<string>>>(),
  /** Ends the import between two batches; it rejects with the signal's reason. @default never */
  signal: shapes.abortSignal,
};

export interface ImportOptions extends rules.Options<typeof RULES> {}

/** Number of lines per batch. */
const BATCH = 4000;
const MAX_UNUSED = 100;

/**
 * Imports contacts from UTF-8 text. For each address, values of a line replace the known ones, and pages are
 * merged, each from its first to its last sighting. Importing a file again changes nothing: after an interruption
 * simply import it again, which is fast for lines that are in the database already.
 *
 * @param input Read to its end or destroyed. Memory use does not depend on its length.
 */
export async function importContacts(
  database: SqlDatabase,
  input: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportProgress> {
  const { format, onBadLine, onProgress, isSuppressed, signal } = checkOptions(
    "importContacts",
    options,
    RULES,
  );
  const { mapping = {} } = options;
  const read = { csv: readCsv, ndjson: readNdjson }[format];
  const driver = useDatabase(database);
  const counts = { lines: 0, added: 0, updated: 0, unchanged: 0, suppressed: 0, bad: 0, dropped: 0 };
  const unused = new Set<string>();
  const nowMs = Date.now();
  let waiting = { lines: 0, suppressed: 0, bad: 0, dropped: 0 };
  let news: ContactNews[] = [];
  let organizations = new Map<string, string>();

  const progress = (): ImportProgress => ({ ...counts, unused: [...unused] });
  const reports: LineReports = {
    onBad: rejectLine,
    onUnused: (column) => unused.size < MAX_UNUSED && unused.add(column),
  };

  function rejectLine(line: BadLine): void {
    waiting.lines++;
    waiting.bad++;
    report(line);
  }

  function report(line: BadLine): void {
    if (onBadLine === "fail") throw badLine(line);
    onBadLine?.(line);
  }

  function take(line: FileLine): void {
    const content = newsOf(line, (field) => {
      waiting.dropped++;
      report({ line: line.line, reason: "value", field });
    });
    if ("reason" in content) {
      rejectLine(content);
      return;
    }
    waiting.lines++;
    if ("news" in content) news.push(content.news);
    else organizations.set(content.domain, content.organization);
  }

  async function put(): Promise<void> {
    const subjects = [...news.flatMap(({ address, domain }) => [address, domain]), ...organizations.keys()];
    const suppressed = await suppressedAmong(subjects, isSuppressed);
    const admitted = news.filter(
      ({ address, domain }) => !suppressed.has(address) && !suppressed.has(domain),
    );
    waiting.suppressed += news.length - admitted.length;
    for (const domain of suppressed) organizations.delete(domain);
    for (const { domain, organization } of admitted) {
      if (organization !== undefined) organizations.set(domain, organization);
    }
    const stored = await putBatch(driver, admitted, organizations, nowMs);
    for (const name of ["added", "updated", "unchanged"] as const) counts[name] += stored[name];
    for (const name of ["lines", "suppressed", "bad", "dropped"] as const) counts[name] += waiting[name];
    waiting = { lines: 0, suppressed: 0, bad: 0, dropped: 0 };
    news = [];
    organizations = new Map();
    onProgress?.(progress());
    signal?.throwIfAborted();
  }

  signal?.throwIfAborted();
  for await (const lines of read(inPieces(input), mapping, reports)) {
    for (const line of lines) {
      take(line);
      if (news.length + organizations.size >= BATCH) await put();
    }
  }
  if (waiting.lines > 0) await put();
  await refreshDomains(driver, signal);
  return progress();
}

const PIECE_BYTES = 65_536;

/** Splits chunks, because one chunk may be a whole file. */
async function* inPieces(input: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
      yield chunk.subarray(start, start + PIECE_BYTES);
    }
  }
}

function badLine({ line, reason, field }: BadLine): ServiceError {
  const where = field === undefined ? reason : `${reason} (${field})`;
  return new ServiceError("bad_request", `Line ${line} cannot be imported: ${where}.`);
}
