import { checkOptions } from "../../check-options.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { onCode, ServiceError } from "../../errors.ts";
import { flag, type Options, preset, required, text } from "../../option-rules.ts";
import { readAll } from "../../stores/blob-body.ts";
import { listAll } from "../../stores/list-all.ts";
import { jsonIn } from "../record/image-record.ts";
import { isReason, REASON_RULE } from "../record/inspect-rules.ts";
import { requireKnownVersion } from "../record/record-codec.ts";
import { ACT_RULES } from "./audit.ts";

const PREFIX = "denied/";
const VERSION = 1;
const UNKNOWN_REASON = "This file is not accepted here.";

const HASH_RULE = required(text("a SHA-256 of 64 hex digits", (given) => /^[0-9a-f]{64}$/i.test(given)));
const ALLOW_RULES = {
  /** SHA-256 of the bytes as they are uploaded, or as they are stored after cleaning; 64 hex digits. */
  sha256: HASH_RULE,
  ...ACT_RULES,
};
const DENY_RULES = {
  ...ALLOW_RULES,
  /** Sent to clients that upload the bytes, 1 to 1000 characters. */
  reason: REASON_RULE,
  /** Whether the reason is a legal one: uploads then answer 451 instead of 403. @default false */
  isLegal: preset(false, flag()),
};

/** Bytes that must not be uploaded. */
export interface DenyOptions extends Options<typeof DENY_RULES> {}

/** Bytes to be accepted again. */
export interface AllowOptions extends Options<typeof ALLOW_RULES> {}

/** Bytes whose upload is refused. */
export interface Denial {
  /** In lower case. */
  sha256: string;
  reason: string;
  isLegal: boolean;
  /** When they were denied last, in Unix milliseconds. `null`: unknown, as the entry is damaged. */
  at: number | null;
}

/** An upload that the host refuses, by its inspection or its deny list. */
export class RefusedUpload extends ServiceError {}

/**
 * The hashes of bytes whose upload is refused, each as a blob of its own in the store of the records: one read by key tells
 * whether an upload is denied, however long the list is.
 */
export class DenyList {
  readonly #store: BlobStore;
  readonly #now: () => number;

  constructor(store: BlobStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Denies bytes on every process from now on. Replaces an earlier reason. @throws TypeError for options out of range. */
  async deny(options: DenyOptions): Promise<void> {
    const { sha256, reason, isLegal } = checkOptions("deny", options, DENY_RULES);
    const value = { v: VERSION, reason, isLegal, at: this.#now() };
    await this.#store.put(keyOfDenied(sha256), Buffer.from(JSON.stringify(value)));
  }

  /** Undoes {@link deny}. Does nothing for bytes that are not denied. */
  async allow(options: AllowOptions): Promise<void> {
    const { sha256 } = checkOptions("allow", options, ALLOW_RULES);
    await this.#store.delete(keyOfDenied(sha256));
  }

  /** All denied bytes, in no particular order. */
  async *list(): AsyncGenerator<Denial> {
    for await (const key of listAll(this.#store, PREFIX)) {
      const denial = await this.#find(key.slice(PREFIX.length).replace("/", ""));
      // `null`: allowed since it was listed.
      if (denial !== null) yield denial;
    }
  }

  /** Moves denials under the keys of an earlier layout, `denied/<64 digits>`, which no look-up reads. */
  async reindex(): Promise<void> {
    for await (const key of listAll(this.#store, PREFIX)) {
      const sha256 = key.slice(PREFIX.length);
      const blob = sha256.includes("/") ? null : await this.#store.get(key);
      if (blob === null) continue;
      const bytes = await readAll(blob.body);
      // A later denial of the same bytes stays.
      await this.#store
        .put(keyOfDenied(sha256), bytes, { ifRevision: null })
        .catch(onCode("conflict", undefined));
      await this.#store.delete(key);
    }
  }

  /** Rejects with {@link RefusedUpload} if any of these bytes are denied. @param hashes SHA-256 in hex. */
  async requireAllowed(hashes: readonly string[]): Promise<void> {
    const denials = await Promise.all(hashes.map((sha256) => this.#find(sha256)));
    const denial = denials.find((found) => found !== null);
    if (denial) throw new RefusedUpload(denial.isLegal ? "withheld" : "forbidden", denial.reason);
  }

  async #find(sha256: string): Promise<Denial | null> {
    const blob = await this.#store.get(keyOfDenied(sha256));
    if (blob === null) return null;
    const value = Object(jsonIn(await readAll(blob.body))) as Record<string, unknown>; // Each field is checked.
    requireKnownVersion(value.v, `The denial of ${sha256}`);
    const { reason, isLegal, at } = value;
    return {
      sha256,
      // A damaged entry still denies.
      reason: isReason(reason) ? reason : UNKNOWN_REASON,
      isLegal: isLegal === true,
      at: typeof at === "number" ? at : null,
    };
  }
}

/** `denied/<3 digits>/<the others>`: a store of files reads a whole directory for each page of a listing. */
function keyOfDenied(sha256: string): string {
  const hash = sha256.toLowerCase();
  return `${PREFIX}${hash.slice(0, 3)}/${hash.slice(3)}`;
}
