import { checkOptions } from "../../check-options.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { flag, type Options, preset, required, text } from "../../option-rules.ts";
import { readAll } from "../../stores/blob-body.ts";
import { listAll } from "../../stores/list-all.ts";
import { jsonIn } from "../record/image-record.ts";
import { isReason, REASON_RULE } from "../record/inspect-rules.ts";
import { requireKnownVersion } from "../record/record-codec.ts";
import { ACT_RULES } from "./act-rules.ts";

const PREFIX = "denied/";
const VERSION = 1;
/** Attempts of a write. Losing this often cannot be due to concurrent writers alone. */
const MAX_ATTEMPTS = 100;
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
  /** ID of the act of `withhold` with `copies` that denied them. Absent: `deny` did. */
  act?: string;
}

type Entry = Omit<Denial, "sha256">;

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

  /**
   * Denies bytes on every process from now on. Replaces an earlier reason. @throws TypeError for options out of range.
   * @param act ID of the takedown that denies: {@link withdraw} undoes its denial alone, and a repetition changes nothing.
   */
  async deny(options: DenyOptions, act?: string): Promise<void> {
    const { sha256, reason, isLegal } = checkOptions("deny", options, DENY_RULES);
    const denial = { reason, isLegal, at: this.#now(), ...(act && { act }) };
    await this.#change(sha256, (denials) => {
      const known = denials.find((each) => act !== undefined && each.act === act && each.reason === reason);
      return known ? denials : [denial, ...denials.filter((each) => each.act !== act)];
    });
  }

  /** Undoes {@link deny} of a takedown. What others denied stays so. */
  async withdraw(sha256: string, act: string): Promise<void> {
    await this.#change(sha256, (denials) => denials.filter((each) => each.act !== act));
  }

  /** Changes the denials of some bytes by compare-and-set: one for each takedown, and one of all others. The first is the last. */
  async #change(sha256: string, revise: (denials: Entry[]) => Entry[]): Promise<void> {
    const key = keyOfDenied(sha256);
    for (let attempt = 1; ; attempt++) {
      const { denials, revision } = await this.#read(sha256);
      const [last, ...earlier] = revise(denials);
      if (last === denials[0] && earlier.length === Math.max(0, denials.length - 1)) return;
      if (last === undefined) return void (await this.#store.delete(key));
      try {
        const value = { v: VERSION, ...last, earlier };
        await this.#store.put(key, Buffer.from(JSON.stringify(value)), { ifRevision: revision });
        return;
      } catch (error) {
        if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
      }
    }
  }

  /** Undoes {@link deny}. Does nothing for bytes that are not denied. */
  async allow(options: AllowOptions): Promise<void> {
    const { sha256 } = checkOptions("allow", options, ALLOW_RULES);
    await this.#store.delete(keyOfDenied(sha256));
  }

  /** All denied bytes, in no particular order. */
  async *list(): AsyncGenerator<Denial> {
    for await (const key of listAll(this.#store, PREFIX)) {
      const denial = await this.find(key.slice(PREFIX.length).replace("/", ""));
      // `null`: allowed since it was listed.
      if (denial !== null) yield denial;
    }
  }

  /** Rejects with {@link RefusedUpload} if any of these bytes are denied. @param hashes SHA-256 in hex. */
  async requireAllowed(hashes: readonly string[]): Promise<void> {
    const denials = await Promise.all(hashes.map((sha256) => this.find(sha256)));
    const denial = denials.find((found) => found !== null);
    if (denial) throw new RefusedUpload(denial.isLegal ? "withheld" : "forbidden", denial.reason);
  }

  /** The last denial of some bytes. `null`: they are not denied. */
  async find(sha256: string): Promise<Denial | null> {
    const [last] = (await this.#read(sha256)).denials;
    return last === undefined ? null : { sha256: sha256.toLowerCase(), ...last };
  }

  async #read(sha256: string): Promise<{ denials: Entry[]; revision: string | null }> {
    const blob = await this.#store.get(keyOfDenied(sha256));
    if (blob === null) return { denials: [], revision: null };
    const { v, earlier, ...last } = Object(jsonIn(await readAll(blob.body))) as Record<string, unknown>; // Each field is checked.
    requireKnownVersion(v, `The denial of ${sha256}`);
    const denials = [last, ...(Array.isArray(earlier) ? earlier : [])].map(entryIn);
    return { denials, revision: blob.revision };
  }
}

/** A damaged entry still denies. */
function entryIn(value: unknown): Entry {
  const { reason, isLegal, at, act } = Object(value) as Record<string, unknown>; // Each field is checked.
  return {
    reason: isReason(reason) ? reason : UNKNOWN_REASON,
    isLegal: isLegal === true,
    at: typeof at === "number" ? at : null,
    ...(typeof act === "string" && { act }),
  };
}

/** `denied/<3 digits>/<the others>`: a store of files reads a whole directory for each page of a listing. */
function keyOfDenied(sha256: string): string {
  const hash = sha256.toLowerCase();
  return `${PREFIX}${hash.slice(0, 3)}/${hash.slice(3)}`;
}
