import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, onCode } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { listAll } from "../../stores/list-all.ts";
import type { NameIndex } from "../../stores/name-index.ts";
import { decodeUsage, encodeUsage, noUsage, type UsageRecord } from "./usage-record.ts";

/** The usage of an owner at one revision. */
export interface HeldUsage {
  readonly usage: UsageRecord;
  /** `null`: no blob exists yet. */
  readonly revision: string | null;
  /** Whether the owner has images all the same, so that they must be counted. A copy of a running store may lack the blob. */
  readonly isMissing: boolean;
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
  readonly #prefix: string;

  /** @param index The images of each owner. */
  constructor(store: BlobStore, index: Pick<NameIndex, "has">, prefix = USAGES) {
    this.#store = store;
    this.#index = index;
    this.#prefix = prefix;
  }

  /** Rejects with `damaged` if the usage is unreadable. */
  async read(owner: string): Promise<HeldUsage> {
    const key = this.#prefix + owner;
    const blob = await this.#store.get(key);
    if (blob !== null) {
      const usage = decodeUsage(await readAll(blob.body), key);
      return { usage, revision: blob.revision, isMissing: false };
    }
    const [earlier, hasImages] = await Promise.all([this.#readEarlier(owner), this.#index.has(owner)]);
    return { usage: earlier ?? noUsage(), revision: null, isMissing: earlier === null && hasImages };
  }

  /** Replaces `held`. Rejects with `conflict` if it is not the current state. */
  async write(
    owner: string,
    { revision: ifRevision }: Pick<HeldUsage, "revision">,
    usage: UsageRecord,
  ): Promise<HeldUsage> {
    const options = { ifRevision, withoutHistory: true };
    const { revision } = await this.#store.put(this.#prefix + owner, encodeUsage(usage), options);
    return { usage, revision, isMissing: false };
  }

  /**
   * Replaces a damaged or missing usage by the result of `count`. Does nothing for any other. Of several processes, one replaces it.
   * @param count Its argument is whether the usage is missing.
   */
  async recount(owner: string, count: (isMissing: boolean) => Promise<UsageRecord>): Promise<void> {
    // Read first, so that a usage that is written during the count stays.
    const revision = (await this.#store.stat(this.#prefix + owner))?.revision ?? null;
    let isMissing = false;
    try {
      ({ isMissing } = await this.read(owner));
      if (!isMissing) return;
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
    }
    const writing = count(isMissing).then((counted) => this.write(owner, { revision }, counted));
    await writing.catch(onCode("conflict", null));
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
