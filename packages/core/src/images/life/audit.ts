import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { readAll } from "../../stores/blob-body.ts";
import { dueName, parseDueName } from "../../stores/due-list.ts";
import { listAll, Unreadable } from "../../stores/list-all.ts";
import { hashOfName } from "../../stores/name-index.ts";
import { createImageId, jsonIn } from "../record/image-record.ts";
import { FORMAT_VERSION, requireKnownVersion } from "../record/record-codec.ts";

/** An act of an operator. */
export type AuditedAct = "accept" | "refuse" | "withhold" | "release" | "remove" | "deny" | "allow" | "keep";

/** One line of the audit. */
export interface AuditEntry {
  /** Unix milliseconds. */
  at: number;
  act: AuditedAct;
  /** ID of the image, or SHA-256 of denied bytes. */
  id: string;
  /** Absent: none was given; likewise `by`. */
  reason?: string;
  /** Who did it, as the host named them. */
  by?: string;
}

/** The rule of the option `by`. */
export const BY_RULE = rules.text(
  "a name of 1 to 256 characters",
  (name) => name.trim() !== "" && name.length <= 256,
);

export const ACT_RULES = {
  /** Who does this, for the audit: 1 to 256 characters. @default no name */
  by: BY_RULE,
};

/** Names the operator of an act. */
export interface ActOptions extends rules.Options<typeof ACT_RULES> {}

export const AUDIT_RULES = {
  /** Acts of then or later, in Unix milliseconds. */
  from: rules.whole(0),
  /** Earlier acts. */
  to: rules.whole(0),
};

/** The part of the audit that is listed. */
export interface AuditRange extends rules.Options<typeof AUDIT_RULES> {}

const PREFIX = "audit/";
const KEPT_MS = 3 * 365 * 86_400_000;
const SWEEP_MS = 86_400_000;
const READ_AT_ONCE = 16;

/**
 * The acts of operators, one blob `audit/<25 days>/<28 minutes>/<time>.<hash>` each, in the store of the records. They outlive their
 * images. The directories are the first digits of the time: a store of files reads a whole directory for each page of a listing.
 */
export class Audit {
  readonly #store: BlobStore;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor(options: { store: BlobStore; now(): number; onError(error: unknown): void }) {
    this.#store = options.store;
    this.#now = options.now;
    this.#onError = options.onError;
  }

  /**
   * Adds an entry after its act. Never rejects: the act is done.
   * @param of The act that a record keeps: a repetition then finds the entry. @default each call is an act of its own
   */
  async add(
    act: AuditedAct,
    id: string,
    { by, reason }: { by?: string | undefined; reason?: string | undefined },
    of: { id: string; at: number } = { id: createImageId(), at: this.#now() },
  ) {
    const { at } = of;
    const name = dueName({
      id: hashOfName(JSON.stringify([of.id, act, id, reason])).slice(0, 22),
      dueMs: at,
    });
    const key = `${PREFIX}${name.slice(0, 3)}/${name.slice(3, 5)}/${name}`;
    const bytes = Buffer.from(JSON.stringify({ v: FORMAT_VERSION, at, act, id, reason, by }));
    await this.#store.put(key, bytes, { ifRevision: null }).catch((cause) => {
      if (isServiceError(cause, "conflict")) return;
      const message = `The audit lacks the line of "${act}" for ${id}: the storage rejected it`;
      this.#onError(new ServiceError("store_unavailable", message, { cause }));
    });
  }

  /** Lists entries, oldest first. `onError` gets the error of an unreadable one. */
  async *list({ from = 0, to = Number.POSITIVE_INFINITY }: AuditRange = {}): AsyncGenerator<AuditEntry> {
    const keys: string[] = [];
    const unreadable = new Unreadable();
    for await (const key of listAll(this.#store, PREFIX, unreadable.note)) {
      const at = timeOf(key);
      if (at !== null && at >= from && at < to) keys.push(key);
    }
    // A listing may repeat a key. The names sort by time.
    const sorted = [...new Set(keys)].sort();
    for (let start = 0; start < sorted.length; start += READ_AT_ONCE) {
      const entries = await Promise.all(
        sorted.slice(start, start + READ_AT_ONCE).map((key) => this.#read(key)),
      );
      for (const entry of entries) if (entry !== null) yield entry;
    }
    unreadable.throwAny();
  }

  /** Removes entries of more than three years ago. Looks at most once a day. */
  async sweep(): Promise<void> {
    const now = this.#now();
    if (now - this.#sweptAt < SWEEP_MS) return;
    this.#sweptAt = now;
    await forEachAtOnce(listAll(this.#store, PREFIX), READ_AT_ONCE, async (key) => {
      const at = timeOf(key);
      if (at !== null && at < now - KEPT_MS) await this.#store.delete(key);
    });
  }

  async #read(key: string): Promise<AuditEntry | null> {
    try {
      const blob = await this.#store.get(key);
      return blob && readEntry(await readAll(blob.body), key);
    } catch (error) {
      this.#onError(error);
      return null;
    }
  }
}

function timeOf(key: string): number | null {
  return parseDueName(key.slice(key.lastIndexOf("/") + 1))?.dueMs ?? null;
}

/** Throws `damaged` for bytes that are no entry, and `store_unavailable` for those of a newer release. */
function readEntry(bytes: Buffer, key: string): AuditEntry {
  const { v, ...entry } = Object(jsonIn(bytes)) as AuditEntry & { v?: unknown }; // Checked here.
  requireKnownVersion(v, `The audit entry ${key}`);
  const texts = [entry.act, entry.id, entry.reason ?? "", entry.by ?? ""];
  if (Number.isSafeInteger(entry.at) && texts.every((text) => typeof text === "string")) return entry;
  throw new ServiceError("damaged", `The audit entry ${key} is damaged`);
}
