import type { BlobStore } from "./blob-store.ts";

/** Optional ability: removes many blobs of one prefix at the price of one. */
export interface BulkRemoval {
  /**
   * Removes the blobs `<prefix><name>` and all blobs below `<prefix><name>/`, one name after the other. As durable as
   * `delete` once it resolves; a name without blobs is no error.
   * @param prefix ends in `/`.
   * @param names segments of keys.
   */
  removeNamed(prefix: string, names: readonly string[]): Promise<void>;
}

export function hasBulkRemoval(store: BlobStore): store is BlobStore & BulkRemoval {
  return "removeNamed" in store;
}
