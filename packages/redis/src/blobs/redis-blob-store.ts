import type { BlobStore, DueIndex, LeaseStore } from "@outrigger/core";
import { checkBlobKey, checkOptions, type RuleTable, rules } from "@outrigger/core/stores";
import { PREFIX_RULE } from "../connection/redis-options.ts";
import { type Flat, openConnection, type RedisSource, SOURCE_RULES } from "../connection/redis-source.ts";
import { deleteBlob } from "./blob-scripts.ts";
import { createBlobSpace } from "./blob-space.ts";
import { getBlob, statBlob } from "./get-blob.ts";
import { listBlobs } from "./list-blobs.ts";
import { INLINE_BYTES, putBlob } from "./put-blob.ts";
import { createRedisDueIndex } from "./redis-due-index.ts";
import { createRedisLeases } from "./redis-leases.ts";
import { warningsOf } from "./redis-warnings.ts";

/** Where the blobs are and how they are written. */
export type RedisBlobStoreOptions = RedisSource & {
  /**
   * What all keys of the store begin with: stores of different prefixes on one server have nothing in common. 1 to 100
   * letters, digits and `_.:-`.
   * @default "outrigger"
   */
  prefix?: string;
  /**
   * Blobs are written in pieces of so many bytes, those that are no longer than two of them (nor than 1 MiB) in one; an integer of
   * 131,072 to 4,194,304. One that is changed holds for new blobs.
   * @default 524_288
   */
  pieceBytes?: number;
  /**
   * How long what was replaced or deleted can still be read by whoever began to, in milliseconds; an integer of 1000 to
   * 3,600,000. It takes up memory for as long. Who reads more slowly gets an error, never other bytes.
   * @default 60_000
   */
  supersededMs?: number;
  /**
   * A blob vanishes when it was not written for so long, in milliseconds; an integer of 1000 to 315,360,000,000 (ten years). For
   * stores that hold renditions and nothing else: these are made again when somebody asks for them. Holds for what is written
   * from then on.
   * @default never
   */
  ttlMs?: number;
};

const FACTORY = "createRedisBlobStore";
const RULES = {
  ...SOURCE_RULES,
  prefix: PREFIX_RULE,
  pieceBytes: rules.preset(524_288, rules.whole(2 * INLINE_BYTES, 4_194_304)),
  supersededMs: rules.preset(60_000, rules.whole(1000, 3_600_000)),
  ttlMs: rules.whole(1000, 315_360_000_000),
} satisfies RuleTable<Flat<RedisBlobStoreOptions>>;

/** A store in Redis, and what its servers are asked before they are trusted with anything. */
export interface RedisBlobStore extends BlobStore, DueIndex, LeaseStore {
  /**
   * What about the servers' settings makes them lose blobs: keys that are evicted, nothing kept on disk. Each text names the
   * remedy; none where all is well. To be asked once and logged where the store holds records or originals.
   */
  warnings(): Promise<string[]>;
}

/**
 * Blobs, small and large, what is due, and leases, on one Redis server or a cluster; for any number of processes.
 *
 * Connects in the background: what is wrong with the server is told by the calls. What is wrong with the options is thrown
 * at once, as a `TypeError`.
 */
export function createRedisBlobStore(options: RedisBlobStoreOptions): RedisBlobStore {
  const checked = checkOptions(FACTORY, options as Flat<RedisBlobStoreOptions>, RULES);
  const { prefix, pieceBytes, supersededMs, ttlMs, ...source } = checked;
  const connection = openConnection(FACTORY, source, "store");
  const space = createBlobSpace(connection, { prefix, pieceBytes, supersededMs, ttlMs: ttlMs ?? 0 });

  return {
    async put(key, body, putOptions = {}) {
      // A body that fails meanwhile does so unheard, and is found to have failed when it is read.
      const ignore = () => undefined;
      if (!(body instanceof Uint8Array)) body.on("error", ignore);
      try {
        putOptions.signal?.throwIfAborted();
        checkBlobKey(key);
        connection.checkOpen();
        return await putBlob(space, key, body, putOptions);
      } catch (error) {
        if (!(body instanceof Uint8Array)) body.destroy();
        throw error;
      }
    },

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
