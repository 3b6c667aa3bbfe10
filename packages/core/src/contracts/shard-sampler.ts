import type { BlobStore } from "./blob-store.ts";

/** A part of a store's keys, chosen by the first characters of the key. */
export interface Shard {
  /** First segments of the shard's keys, each once, in no particular order. */
  names: string[];
  /** Number of all shards of the store, this one included. */
  shardCount: number;
}

/** Optional ability: gives the store's keys by parts of similar size, so that a few of them stand for all. */
export interface ShardSampler {
  /** Yields every shard once, in random order. A key that exists throughout is in exactly one of them. */
  shards(): AsyncGenerator<Shard>;
}

export function hasShardSampler(store: BlobStore): store is BlobStore & ShardSampler {
  return "shards" in store;
}
