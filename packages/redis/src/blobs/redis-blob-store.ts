import {
  type BlobStore,
  checkBlobKey,
  checkOptions,
  type DueIndex,
  type LeaseStore,
  rules,
  withBody,
} from "@outrigger/core/stores";
import { RedisConnection } from "../connection/redis-connection.ts";
import { CONNECTION_RULES, PREFIX_RULE, readOptions } from "../connection/redis-options.ts";
import { deleteBlob } from "./blob-scripts.ts";
import { createBlobSpace } from "./blob-space.ts";
import { getBlob, statBlob } from "./get-blob.ts";
import { listBlobs } from "./list-blobs.ts";
import { putBlob } from "./put-blob.ts";
import { createRedisDueIndex } from "./redis-due-index.ts";
import { createRedisLeases } from "./redis-leases.ts";
import { warningsOf } from "./redis-warnings.ts";

const RULES = {
  ...CONNECTION_RULES,
  /**
   * Prefix of all keys: 1 to 100 letters, digits and `_.:-`. Stores with different prefixes are independent.
   * @default "outrigger"
   */
  prefix: PREFIX_RULE,
  /**
   * How long a read in progress can fetch a blob that was replaced or deleted, in milliseconds, 1000 to 3,600,000.
   * The old bytes use memory for that time. A slower read fails with an error.
   * @default 60_000
   */
  supersededMs: rules.preset(60_000, rules.time(1000, 3_600_000)),
  /**
   * A blob expires this long after its last write, in milliseconds, 1000 to 315,360,000,000 (ten years). Only for
   * stores that hold renditions and nothing else.
   * @default never
   */
  ttlMs: rules.time(1000, 315_360_000_000),
};

/** Settings of a store. */
export interface RedisBlobStoreOptions extends rules.Options<typeof RULES> {}

/** A store in Redis, with a check of its servers' settings. */
export interface RedisBlobStore extends BlobStore, DueIndex, LeaseStore {
  /**
   * Checks the servers for settings that lose blobs: eviction, no persistence, no replica that must acknowledge.
   * Each text names the remedy; the list is empty if there is no such setting. Call it once and log the result if
   * the store holds records or originals.
   */
  warnings(): Promise<string[]>;
}

/**
 * A store of blobs of any size, due lists and leases, on one Redis server or a cluster, for any number of
 * processes.
 *
 * Connects in the background: calls reject if the server fails. Invalid options throw a `TypeError` at once.
 */
export function createRedisBlobStore(options: RedisBlobStoreOptions): RedisBlobStore {
  const checked = checkOptions("createRedisBlobStore", options, RULES);
  const { prefix, supersededMs, ttlMs, ...given } = checked;
  const connection = new RedisConnection(readOptions(given), "store");
  const space = createBlobSpace(connection, { prefix, supersededMs, ttlMs: ttlMs ?? 0 });

  return {
    put: (key, body, putOptions = {}) =>
      withBody(body, async () => {
        putOptions.signal?.throwIfAborted();
        checkBlobKey(key);
        connection.checkOpen();
        return await putBlob(space, key, body, putOptions);
      }),

    async get(key, getOptions = {}) {
      checkBlobKey(key);
      return await getBlob(space, key, getOptions);
    },

    async stat(key) {
      checkBlobKey(key);
      return await statBlob(space, key);
    },

    async delete(key) {
      checkBlobKey(key);
      return (await space.change(deleteBlob, key, [String(supersededMs)])) === "done";
    },

    list: (listPrefix, listOptions = {}) => listBlobs(space, listPrefix, listOptions),
    ...createRedisDueIndex(connection, space.names),
    ...createRedisLeases(connection, space.names),
    warnings: () => warningsOf(connection),
    close: () => connection.close(),
  };
}
