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

/**
 * A secondary index: any number of entries under a name, as empty blobs `<index>/<hash of the name>/<time>.<id>`. They are as
 * durable and shared as the store. An entry may exist without what it names, so readers check that.
 */
export class NameIndex {
  readonly #store: BlobStore;
  readonly #prefix: string;

  /** @param index Name of the index: the first segment of its keys. */
  constructor(store: BlobStore, index: string) {
    this.#store = store;
    this.#prefix = `${index}/`;
  }

  /** Key of the blob of an entry. */
  keyOf(name: string, { id, createdAt }: NamedEntry): string {
    return `${this.#prefix}${hashOfName(name)}/${dueName({ id, dueMs: createdAt })}`;
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

  /** Whether there are entries under a name with this hash. */
  async has(hash: string): Promise<boolean> {
    return (await this.#store.list(`${this.#prefix}${hash}/`, { limit: 1 })).keys.length > 0;
  }

  /** The entries under a name with this hash, in no particular order. @param hash @default all entries */
  async *list(hash?: string): AsyncGenerator<FoundEntry> {
    const prefix = hash === undefined ? this.#prefix : `${this.#prefix}${hash}/`;
    for await (const key of listAll(this.#store, prefix)) {
      const [, found = "", last = ""] = key.split("/");
      const entry = parseDueName(last);
      if (entry !== null) yield { id: entry.id, createdAt: entry.dueMs, key, hash: found };
    }
  }
}

/** SHA-256 of a name in hex: a segment of keys. */
export function hashOfName(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}
