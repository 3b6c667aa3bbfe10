import { ServiceError } from "@outrigger/core";
import { isPrivateDomain, type MailLists } from "@outrigger/core/lookup";
import { mergeContact } from "../contacts/merge-contact.ts";
import { CONTACT_FIELDS, type ContactField } from "./contact-fields.ts";
import { contactValues } from "./export-contacts.ts";
import type { BadLine, FileLine } from "./file-line.ts";
import { type LineNews, newsOf } from "./line-news.ts";
import { type ReadOptions, readLines } from "./read-lines.ts";

/** What was read of a file. */
export interface FileProgress {
  /** Lines that were read: those with an address or a domain, and rejected ones. Empty lines do not count. */
  lines: number;
  /** Rejected lines; see `onBadLine`. */
  bad: number;
  /** Values that were left out of imported lines; see `onBadLine`. */
  dropped: number;
  /** Up to 500 columns or keys with texts that were not imported: they are of no field, or another one gave it. */
  unused: readonly string[];
  /** Up to 500 columns or keys, and the fields of each. */
  columns: readonly { column: string; fields: readonly ContactField[] }[];
  /** In a dry run the first three contacts, in the format of an NDJSON export, as an empty database stores them. */
  samples: readonly object[];
}

const MAX_COLUMNS = 500;
const MAX_SAMPLES = 3;

interface FileOptions {
  onBadLine: "fail" | ((line: BadLine) => void) | undefined;
  lists: MailLists | undefined;
  isDryRun: boolean;
}

/** Reads the contacts of a file, and counts its lines. */
export class ContactFile {
  readonly #counts = { lines: 0, bad: 0, dropped: 0 };
  readonly #unused = new Set<string>();
  readonly #columns = new Map<string, readonly ContactField[]>();
  readonly #samples: object[] = [];
  readonly #options: FileOptions;

  constructor(options: FileOptions) {
    this.#options = options;
  }

  get progress(): FileProgress {
    const columns = [...this.#columns].map(([column, fields]) => ({ column, fields }));
    return { ...this.#counts, unused: [...this.#unused], columns, samples: [...this.#samples] };
  }

  lines(input: AsyncIterable<Uint8Array>, options: ReadOptions): AsyncGenerator<FileLine[]> {
    return readLines(input, options, {
      onBad: (line) => this.#reject(line),
      onUnused: (column) => this.#unused.size < MAX_COLUMNS && this.#unused.add(column),
      onColumns: (names, plan) => {
        for (const [index, column] of names.entries()) {
          if (column.trim() === "" || this.#columns.has(column) || this.#columns.size >= MAX_COLUMNS)
            continue;
          const isOwn = (field: ContactField) => plan.get(field)?.some((each) => each.index === index);
          this.#columns.set(column, CONTACT_FIELDS.filter(isOwn));
        }
      },
    });
  }

  /** The content of a line; `null` if it is bad, or names only the organisation of a private domain. */
  take(line: FileLine): LineNews | null {
    const content = newsOf(line, (field) => {
      this.#counts.dropped++;
      this.#report({ line: line.line, reason: "value", field });
    });
    if ("reason" in content) {
      this.#reject(content);
      return null;
    }
    this.#counts.lines++;
    if (isPrivateDomain(this.#options.lists, "news" in content ? content.news.domain : content.domain)) {
      if (!("news" in content)) return null;
      delete content.news.organization;
    }
    if (this.#options.isDryRun && this.#samples.length < MAX_SAMPLES && "news" in content) {
      const { news } = content;
      const [fields, sources] = contactValues(mergeContact(null, news, Date.now()), news.domain, null);
      this.#samples.push({ ...fields, sources });
    }
    return content;
  }

  #reject(line: BadLine): void {
    this.#counts.lines++;
    this.#counts.bad++;
    this.#report(line);
  }

  #report(line: BadLine): void {
    const { onBadLine } = this.#options;
    if (onBadLine === "fail") {
      const where = line.field === undefined ? line.reason : `${line.reason} (${line.field})`;
      throw new ServiceError("bad_request", `Line ${line.line} cannot be imported: ${where}.`);
    }
    onBadLine?.(line);
  }
}
