import { checkOptions, rules, shapes } from "@outrigger/core/stores";
import type { ContactNews } from "../contacts/merge-contact.ts";
import { putBatch } from "../contacts/put-batch.ts";
import { refreshDomains } from "../contacts/refresh-contacts.ts";
import { type SqlDatabase, useDatabase } from "../sql-database.ts";
import { CONTACT_FIELDS, type FieldMapping } from "./contact-fields.ts";
import { ContactFile, type FileProgress } from "./contact-file.ts";
import { isEncoding } from "./file-encoding.ts";
import type { BadLine } from "./file-line.ts";
import { CONTACT_FORMATS } from "./read-lines.ts";
import { suppressedAmong } from "./suppressed-among.ts";

/** Progress of an import. Everything counted here is committed. */
export interface ImportProgress extends FileProgress {
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
}

const COLUMN = rules.text("the name of a column or key");
const MAPPING: rules.Rule<FieldMapping> = rules.nested(
  Object.fromEntries(CONTACT_FIELDS.map((field) => [field, COLUMN])),
);
const RULES = {
  /** Of the file. @default by the content */
  format: rules.oneOf(...CONTACT_FORMATS),
  /** A name of the Encoding Standard. @default UTF-8, or UTF-16 with a mark */
  encoding: rules.text('an encoding, such as "windows-1252"', isEncoding),
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
  /** Webmail, disposable and alias domains, whose lines name no organisation. @default none are known */
  lists: shapes.mailLists,
  /** Ends the import between two batches; it rejects with the signal's reason. @default never */
  signal: shapes.abortSignal,
};

export interface ImportOptions extends rules.Options<typeof RULES> {}

/**
 * Number of lines per batch. A line with several pages counts for each: they may be long. A larger batch would hold the lock of
 * an embedded database for longer than other processes wait.
 */
const BATCH = 4000;

/**
 * Imports contacts from a file of text. For each address, values of a line replace the known ones, and pages are
 * merged, each from its first to its last sighting. Importing a file again changes nothing: after an interruption
 * simply import it again, which is fast for lines that are in the database already.
 *
 * @param database `null` for a dry run, which stores nothing.
 * @param input Read to its end or destroyed. Memory use does not depend on its length.
 */
export async function importContacts(
  database: SqlDatabase | null,
  input: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<ImportProgress> {
  const { format, encoding, onBadLine, onProgress, isSuppressed, lists, signal } = checkOptions(
    "importContacts",
    options,
    RULES,
  );
  const { mapping = {} } = options;
  const file = new ContactFile({ onBadLine, lists, isDryRun: database === null });
  const driver = database && useDatabase(database);
  const counts = { added: 0, updated: 0, unchanged: 0, suppressed: 0 };
  const nowMs = Date.now();
  let news: ContactNews[] = [];
  let organizations = new Map<string, string>();
  let size = 0;

  async function put(): Promise<void> {
    const subjects = [...news.flatMap(({ address, domain }) => [address, domain]), ...organizations.keys()];
    const suppressed = await suppressedAmong(subjects, isSuppressed);
    const admitted = news.filter(
      ({ address, domain }) => !suppressed.has(address) && !suppressed.has(domain),
    );
    for (const domain of suppressed) organizations.delete(domain);
    const stored = driver && (await putBatch(driver, admitted, organizations, nowMs));
    for (const name of ["added", "updated", "unchanged"] as const) counts[name] += stored?.[name] ?? 0;
    counts.suppressed += news.length - admitted.length;
    news = [];
    organizations = new Map();
    size = 0;
    onProgress?.({ ...counts, ...file.progress });
    signal?.throwIfAborted();
  }

  signal?.throwIfAborted();
  for await (const lines of file.lines(input, { format, encoding, mapping })) {
    for (const line of lines) {
      const content = file.take(line);
      if (content === null) continue;
      if ("news" in content) news.push(content.news);
      else organizations.set(content.domain, content.organization);
      size += "news" in content ? Math.max(1, content.news.evidence.length) : 1;
      if (size >= BATCH) await put();
    }
  }
  if (size > 0) await put();
  if (driver) await refreshDomains(driver, signal);
  return { ...counts, ...file.progress };
}
