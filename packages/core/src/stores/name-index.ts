import { createHash } from "node:crypto";
import type { BlobStore } from "../contracts/blob-store.ts";
import { onCode } from "../errors.ts";
import { dueName, parseDueName } from "./due-list.ts";
import { listAll } from "./list-all.ts";

/** An entry under a name. */
export interface NamedEntry {
  /** As for a due entry. */
  id: string;
  /** Unix milliseconds, an integer. */
  createdAt: number;
}

/** A stored entry. */
export interface FoundEntry extends NamedEntry {
  key: string;
  /** See {@link hashOfName}. */
  hash: string;
}

const SPLIT = 3;
/** The hash and the entry in a key. */
const ENTRY = /^([0-9a-f]{64})\/(.*)$/;
const SPLIT_ENTRY = /^([0-9a-f]{3}\/[0-9a-f]{61})\.(.*)$/;

/**
 * A secondary index: any number of entries under a name, as empty blobs `<index>/<hash of the name>/<time>.<id>`. They are as
 * durable and shared as the store. An entry may exist without what it names, so readers check that. An index with few entries under
 * each name shares its directories: `<index>/<3 digits of the hash>/<the others>.<time>.<id>`.
 */
export class NameIndex {
  readonly #store: BlobStore;
  readonly #prefix: string;
  readonly #isSplit: boolean;

  /**
   * @param index Name of the index: the first segment of its keys.
   * @param isSplit Whether most names have few entries.
   */
  constructor(store: BlobStore, index: string, isSplit = false) {
    this.#store = store;
    this.#prefix = `${index}/`;
    this.#isSplit = isSplit;
  }

  /** Key of the blob of an entry. */
  keyOf(name: string, { id, createdAt }: NamedEntry): string {
    const hash = hashOfName(name);
    const rest = this.#isSplit ? `${hash.slice(SPLIT)}.` : "";
    return this.#directoryOf(hash) + rest + dueName({ id, dueMs: createdAt });
  }

  /** Adding an existing entry changes nothing. */
  async add(name: string, entry: NamedEntry): Promise<void> {
    const adding = this.#store.put(this.keyOf(name, entry), Buffer.alloc(0), { ifRevision: null });
    await adding.catch(onCode("conflict", null));
  }

  /** Removing an absent entry changes nothing. */
  async remove(name: string, entry: NamedEntry): Promise<void> {
    await this.removeKey(this.keyOf(name, entry));
  }

  /** Removes an entry by its {@link FoundEntry.key}. */
  async removeKey(key: string): Promise<void> {
    await this.#store.delete(key);
  }

  /** Whether there are entries under a name with this hash. Not for an index whose names share directories. */
  async has(hash: string): Promise<boolean> {
    return (await this.#store.list(this.#directoryOf(hash), { limit: 1 })).keys.length > 0;
  }

  /** The entries under a name with this hash, in no particular order. @param hash @default all entries */
  async *list(hash?: string): AsyncGenerator<FoundEntry> {
    const prefix = hash === undefined ? this.#prefix : this.#directoryOf(hash);
    for await (const key of listAll(this.#store, prefix)) {
      const form = this.#isSplit ? SPLIT_ENTRY : ENTRY;
      const [, found = "", last = ""] = form.exec(key.slice(this.#prefix.length)) ?? [];
      const entry = parseDueName(last);
      const foundHash = found.replace("/", "");
      if (entry === null || (hash !== undefined && foundHash !== hash)) continue;
      yield { id: entry.id, createdAt: entry.dueMs, key, hash: foundHash };
    }
  }

  #directoryOf(hash: string): string {
    return `${this.#prefix}${this.#isSplit ? hash.slice(0, SPLIT) : hash}/`;
  }
}

/** SHA-256 of a name in hex: a segment of keys. */
export function hashOfName(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
