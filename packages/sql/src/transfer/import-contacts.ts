import { ServiceError } from "@outrigger/core";
import { checkOptions, type RuleTable, rules, shapes } from "@outrigger/core/stores";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { putBatch } from "../contacts/put-batch.ts";
import { refreshDomains } from "../contacts/refresh-contacts.ts";
import { readyDriver, type SqlDatabase } from "../sql-database.ts";
import { CONTACT_FIELDS, type FieldMapping } from "./contact-fields.ts";
import { readCsv } from "./csv-lines.ts";
import type { BadLine, FileLine } from "./file-line.ts";
import { newsOf } from "./line-news.ts";
import { readNdjson } from "./ndjson-lines.ts";
import { suppressedAmong } from "./suppressed-among.ts";

/** How far an import is. What is counted here is in the database, to stay. */
export interface ImportProgress {
  /** Lines that were read and told of an address, of a domain, or were bad. */
  lines: number;
  /** Addresses; one that is in several lines far apart counts each time. */
  added: number;
  updated: number;
  /** Addresses of which was known what was said. */
  unchanged: number;
  /** Addresses that were left out because `isSuppressed` says so. */
  suppressed: number;
  /** Lines that were left out because something is wrong with them. */
  bad: number;
}

export interface ImportOptions {
  /** `csv` with a line of names first, or `ndjson`: a JSON object in each line. */
  format: "csv" | "ndjson";
  /** Which columns, or keys, are which fields. @default the usual names */
  mapping?: FieldMapping;
  /**
   * Hears of each line that is left out. `"fail"` ends the import with `bad_request` at the first; what was read before it
   * may be in the database.
   * @default they are counted
   */
  onBadLine?: "fail" | ((line: BadLine) => void);
  /** Hears how far the import is after each batch. @default nobody */
  onProgress?: (progress: ImportProgress) => void;
  /**
   * Which of at most 100 normalised addresses and domains are to be left out, a domain with all its addresses.
   * @default none
   */
  isSuppressed?: (subjects: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Ends the import between two batches; it rejects with the signal's reason. @default never */
  signal?: AbortSignal;
}

const COLUMN = rules.text("the name of a column or key");
const RULES = {
  format: rules.required(rules.oneOf("csv", "ndjson")),
  mapping: rules.nested(Object.fromEntries(CONTACT_FIELDS.map((field) => [field, COLUMN]))),
  onBadLine: rules.value('"fail" or a function', (given) => given === "fail" || typeof given === "function"),
  onProgress: rules.fn(),
  isSuppressed: rules.fn(),
  signal: shapes.abortSignal,
} satisfies RuleTable<ImportOptions>;

/** Lines that are taken in at once. */
const BATCH = 4000;

/**
 * Reads contacts from UTF-8 text and adds them to what is known: of each address what a line says replaces what was said, and
 * pages are kept, each from when it was first to when it was last seen. To import a file again changes nothing, so that one
 * that was interrupted is simply imported again: what is in already costs little.
 *
 * @param input is read to its end or destroyed; the memory that is used does not depend on its length.
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
  const driver = await readyDriver(database);
  const progress: ImportProgress = { lines: 0, added: 0, updated: 0, unchanged: 0, suppressed: 0, bad: 0 };
  const nowMs = Date.now();
  const today = new Date(nowMs).toISOString().slice(0, 10);
  let waiting = { lines: 0, suppressed: 0, bad: 0 };
  let news: ContactNews[] = [];
  let organizations = new Map<string, string>();

  function tellBad(line: BadLine): void {
    waiting.lines++;
    waiting.bad++;
    if (onBadLine === "fail") throw badLine(line);
    onBadLine?.(line);
  }

  function take(line: FileLine): void {
    const told = newsOf(line, today);
    if ("reason" in told) {
      tellBad(told);
      return;
    }
    waiting.lines++;
    if ("news" in told) news.push(told.news);
    else organizations.set(told.domain, told.organization);
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
    const counts = await putBatch(driver, admitted, organizations, nowMs);
    for (const name of ["added", "updated", "unchanged"] as const) progress[name] += counts[name];
    for (const name of ["lines", "suppressed", "bad"] as const) progress[name] += waiting[name];
    waiting = { lines: 0, suppressed: 0, bad: 0 };
    news = [];
    organizations = new Map();
    onProgress?.({ ...progress });
    signal?.throwIfAborted();
  }

  signal?.throwIfAborted();
  for await (const lines of read(inPieces(input), mapping, tellBad)) {
    for (const line of lines) {
      take(line);
      if (news.length + organizations.size >= BATCH) await put();
    }
  }
  if (waiting.lines > 0) await put();
  await refreshDomains(driver, signal);
  return progress;
}

const PIECE_BYTES = 65_536;

/** What is read at once may be a whole file. */
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
