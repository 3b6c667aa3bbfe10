import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError, onCode } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
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

/** Prefix of the keys. */
export const USAGES = "usage/";

/**
 * The usage of each owner: one blob `usage/<owner>` that every change replaces by compare-and-set. An owner is the hash of its name.
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
    return { usage: noUsage(), revision: null, isMissing: await this.#index.has(owner) };
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
}
