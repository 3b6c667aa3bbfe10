import { LRUCache } from "lru-cache";
import {
  type BlobStore,
  hasRevisionProbe,
  hasShardSampler,
  type ShardSampler,
} from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/read-all.ts";
import { isImageId } from "./image-id.ts";
import { type ImageRecord, idOfRecord, keyOf } from "./image-record.ts";
import { damagedRecord, decodeRecord, encodeRecord } from "./record-codec.ts";

/** A record at one revision. The same object for as long as the revision holds, so that answers can be kept with it. */
export interface CurrentRecord {
  readonly record: ImageRecord;
  readonly revision: string;
}

/** A record that cannot be read, at one revision. */
export interface DamagedRecord {
  bytes: Buffer;
  revision: string;
}

export interface ImageRecords {
  /** The record if it is known to be current without asking a remote store; `undefined` says nothing. */
  peek(id: string): CurrentRecord | undefined;
  /**
   * The record as it is now; `null` where there is none, in a store that is still the one that was opened. Rejects with
   * `damaged` for one that cannot be read, and with `store_unavailable` for one that a newer release wrote.
   */
  load(id: string, signal?: AbortSignal): Promise<CurrentRecord | null>;
  /** As `load`, without a look at the store's identity: for a caller that removes and refuses nothing where it is `null`. */
  loadUnconfirmed(id: string): Promise<CurrentRecord | null>;
  /** A record that `load` rejects as damaged, as it is stored; `null` where there is none, or one that can be read. */
  loadDamaged(id: string): Promise<DamagedRecord | null>;
  /** The IDs of all records, in no particular order. */
  ids(): AsyncGenerator<string>;
  /**
   * The same IDs by parts of the store, in random order: a few parts stand for all. Names that have no record may be among
   * them. `null` where the store has no such parts.
   */
  shards: (() => AsyncGenerator<{ ids: string[]; shardCount: number }>) | null;
  /** Makes a new record; the commit point of an image. Rejects with `conflict` where one exists. */
  create(record: ImageRecord, signal?: AbortSignal): Promise<CurrentRecord>;
  /** Replaces a record by compare-and-set. Rejects with `conflict` when it is no longer at `current`. */
  replace(current: CurrentRecord, record: ImageRecord): Promise<CurrentRecord>;
  /** Removes a record for good, whatever it says by now. */
  remove(id: string): Promise<void>;
}

const MAX_CACHED_RECORDS = 5_000;

/**
 * Every request looks at the record, for expiry and deletion are in force at once on every process. Where the store can
 * tell cheaply that a revision still holds, the parsed record is kept and only that look remains.
 * @param confirm rejects where the store is not the one that was opened: a missing record says nothing then.
 */
export function createImageRecords(store: BlobStore, confirm: () => Promise<void>): ImageRecords {
  const cache = new LRUCache<string, CurrentRecord>({
    max: MAX_CACHED_RECORDS,
  });
  const probe = hasRevisionProbe(store) ? store : null;
  const sampler = hasShardSampler(store) ? store : null;

  function remember(record: ImageRecord, revision: string): CurrentRecord {
    const current = { record, revision };
    if (probe !== null && !isUnknown(record)) cache.set(record.id, current);
    return current;
  }

  function peek(id: string): CurrentRecord | undefined {
    const cached = cache.get(id);
    if (cached === undefined || probe?.isCurrent(keyOf.record(id), cached.revision)) return cached;
    cache.delete(id);
    return undefined;
  }

  async function loadUnconfirmed(id: string, signal?: AbortSignal): Promise<CurrentRecord | null> {
    const cached = peek(id);
    if (cached !== undefined) return cached;
    const blob = await store.get(keyOf.record(id), signal === undefined ? {} : { signal });
    return blob === null ? null : remember(readRecord(await readAll(blob.body), id), blob.revision);
  }

  return {
    peek,
    loadUnconfirmed,
    async load(id, signal) {
      const current = await loadUnconfirmed(id, signal);
      if (current === null) await confirm();
      return current;
    },
    async loadDamaged(id) {
      const blob = await store.get(keyOf.record(id));
      if (blob === null) return null;
      const bytes = await readAll(blob.body);
      try {
        readRecord(bytes, id);
        return null;
      } catch (error) {
        if (!isServiceError(error, "damaged")) throw error;
        return { bytes, revision: blob.revision };
      }
    },
    async *ids() {
      let cursor: string | undefined;
      do {
        const page = await store.list("", cursor === undefined ? {} : { cursor });
        for (const key of page.keys) {
          const id = idOfRecord(key);
          if (id !== null) yield id;
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
    },
    shards: sampler === null ? null : () => idsByShard(sampler),
    async create(record, signal) {
      const options = {
        ifRevision: null,
        ...(signal === undefined ? {} : { signal }),
      };
      const { revision } = await store.put(keyOf.record(record.id), encodeRecord(record), options);
      return remember(record, revision);
    },
    async replace(current, record) {
      const options = { ifRevision: current.revision };
      const { revision } = await store.put(keyOf.record(record.id), encodeRecord(record), options);
      return remember(record, revision);
    },
    async remove(id) {
      await store.delete(keyOf.record(id));
      cache.delete(id);
    },
  };
}

async function* idsByShard(sampler: ShardSampler) {
  for await (const { names, shardCount } of sampler.shards()) {
    yield { ids: names.filter(isImageId), shardCount };
  }
}

/** As {@link decodeRecord}; what stands for a damaged record is as damaged, unless it says that nothing is served. */
export function readRecord(bytes: Buffer, id: string): ImageRecord {
  const record = decodeRecord(bytes, id);
  if (isUnknown(record)) throw damagedRecord(id, "it was replaced when it could not be read");
  return record;
}

function isUnknown({ damaged, gone, withheld }: ImageRecord): boolean {
  return damaged === true && gone === null && withheld === null;
}
