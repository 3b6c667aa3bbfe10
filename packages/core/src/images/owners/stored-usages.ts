import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { listAll } from "../../stores/list-all.ts";
import type { NameIndex } from "../../stores/name-index.ts";
import { readAll } from "../../stores/read-all.ts";
import { decodeUsage, encodeUsage, noUsage, type UsageRecord } from "./usage-record.ts";

/** The usage of an owner at one revision. */
export interface HeldUsage {
  readonly usage: UsageRecord;
  /** `null`: no blob exists yet. */
  readonly revision: string | null;
}

/** A key that an earlier release stored. */
export interface EarlierKey {
  key: string;
  /** See {@link StoredUsages}. */
  owner: string;
}

/** Prefix of the keys. */
export const USAGES = "usage/";
const EARLIER = "owners/";

/**
 * The usage of each owner: one blob `usage/<owner>` that every change replaces by compare-and-set. An owner is the hash of its name.
 *
 * Earlier releases stored `owners/<owner>/<number>`, of which the highest number is valid. The first change copies it;
 * nothing changes it afterwards.
 */
export class StoredUsages {
  readonly #store: BlobStore;
  readonly #index: Pick<NameIndex, "has">;

  /** @param index The images of each owner. */
  constructor(store: BlobStore, index: Pick<NameIndex, "has">) {
    this.#store = store;
    this.#index = index;
  }

  /** Rejects with `damaged` if the usage is unreadable, or missing although the owner has images, as in a copy of a running store. */
  async read(owner: string): Promise<HeldUsage> {
    const key = keyOf(owner);
    const blob = await this.#store.get(key);
    if (blob !== null) return { usage: decodeUsage(await readAll(blob.body), key), revision: blob.revision };
    const [earlier, hasImages] = await Promise.all([this.#readEarlier(owner), this.#index.has(owner)]);
    if (earlier === null && hasImages)
      throw new ServiceError("damaged", `The usage of an owner (key "${key}") is missing`);
    return { usage: earlier ?? noUsage(), revision: null };
  }

  /** Replaces `held`. Rejects with `conflict` if it is not the current state. */
  async write(owner: string, { revision: ifRevision }: HeldUsage, usage: UsageRecord): Promise<HeldUsage> {
    const options = { ifRevision, withoutHistory: true };
    const { revision } = await this.#store.put(keyOf(owner), encodeUsage(usage), options);
    return { usage, revision };
  }

  /**
   * Replaces a damaged usage by the result of `count`. Does nothing if it is readable. Of several processes, one replaces it.
   * @param count Its argument is whether the usage is missing, rather than unreadable.
   */
  async recount(owner: string, count: (isMissing: boolean) => Promise<UsageRecord>): Promise<void> {
    // Read first, so that a usage that is written during the count stays.
    const revision = (await this.#store.stat(keyOf(owner)))?.revision ?? null;
    try {
      await this.read(owner);
      return;
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
    }
    const isMissing = revision === null && (await this.#earlierKeys(owner)).length === 0;
    try {
      await this.write(owner, { usage: noUsage(), revision }, await count(isMissing));
    } catch (error) {
      if (!isServiceError(error, "conflict")) throw error;
    }
  }

  /** The keys of earlier releases, in no particular order. */
  async *earlier(): AsyncGenerator<EarlierKey> {
    for await (const key of listAll(this.#store, EARLIER)) yield { key, owner: key.split("/")[1] ?? "" };
  }

  async #readEarlier(owner: string): Promise<UsageRecord | null> {
    const [key] = await this.#earlierKeys(owner);
    const blob = key === undefined ? null : await this.#store.get(key);
    return key === undefined || blob === null ? null : decodeUsage(await readAll(blob.body), key);
  }

  /** Highest number first. */
  async #earlierKeys(owner: string): Promise<string[]> {
    const prefix = `${EARLIER}${owner}/`;
    const numberOf = (key: string) => Number(key.slice(prefix.length));
    const keys: string[] = [];
    for await (const key of listAll(this.#store, prefix)) keys.push(key);
    return keys.sort((a, b) => numberOf(b) - numberOf(a));
  }
}

function keyOf(owner: string): string {
  return USAGES + owner;
}
