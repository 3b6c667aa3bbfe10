import { LRUCache } from "lru-cache";
import { abortable } from "../../async/abortable.ts";
import {
  type BlobStore,
  hasJointAdoption,
  hasRevisionProbe,
  hasShardSampler,
  type JointAdoption,
  type ShardSampler,
} from "../../contracts/blob-store.ts";
import { hasRecordQueries, type RecordQueries } from "../../contracts/record-queries.ts";
import { isServiceError } from "../../errors.ts";
import { listAll } from "../../stores/list-all.ts";
import { readAll } from "../../stores/read-all.ts";
import { isImageId } from "./image-id.ts";
import { expiryOf } from "./image-life.ts";
import { type ImageRecord, idOfRecord, keyOf } from "./image-record.ts";
import { type Instant, MAX_READ_LEASE_MS, type ReadLeases } from "./read-leases.ts";
import { damagedRecord, decodeRecord, encodeRecord } from "./record-codec.ts";

/**
 * A record at one revision. The same object is returned while the revision holds, so that callers can cache results
 * by it.
 */
export interface CurrentRecord {
  readonly record: ImageRecord;
  readonly revision: string;
}

/** The bytes of an unreadable record, at one revision. */
export interface DamagedRecord {
  bytes: Buffer;
  revision: string;
}

export interface ImageRecords {
  /** The cached record if it is known to be current without a request to the store. `undefined`: unknown. */
  peek(id: string): CurrentRecord | undefined;
  /** Like `peek`, and the record of an image that may be served by a read lease. */
  peekServable(id: string): CurrentRecord | undefined;
  /**
   * Loads the current record. `null` if there is none, after confirming the identity of the store. Rejects with
   * `damaged` for an unreadable record, and with `store_unavailable` for one that a newer release wrote.
   */
  load(id: string, signal?: AbortSignal): Promise<CurrentRecord | null>;
  /**
   * Like `load`, without confirming the identity of the store. For callers that neither remove nor refuse anything on
   * `null`.
   */
  loadUnconfirmed(id: string): Promise<CurrentRecord | null>;
  /** The bytes of a record that `load` rejects as damaged. `null` if there is no record, or if it is readable. */
  loadDamaged(id: string): Promise<DamagedRecord | null>;
  /** The IDs of all records, in no particular order. */
  ids(): AsyncGenerator<string>;
  /**
   * The same IDs by shards of the store, in random order: a few shards are a sample of all. May include names without
   * a record. `null` if the store has no shards.
   */
  shards: (() => AsyncGenerator<{ ids: string[]; shardCount: number }>) | null;
  /** Queries of the store; `null`: it has none, and every record is read. */
  queries: RecordQueries | null;
  /** Creates a record: the commit point of an image. Rejects with `conflict` if one exists. */
  create(record: ImageRecord, signal?: AbortSignal): Promise<CurrentRecord>;
  /**
   * Like `create`, together with the original: a spooled file, as for `LocalStore.adopt`. Both are stored or none. `null`:
   * the store of the records is not that of the originals, or cannot do this.
   */
  createWithOriginal:
    | ((record: ImageRecord, path: string, signal: AbortSignal) => Promise<CurrentRecord>)
    | null;
  /**
   * Replaces a record by compare-and-set. Rejects with `conflict` if `current` is not its current revision. Does not wait for read
   * leases.
   */
  replace(current: CurrentRecord, record: ImageRecord): Promise<CurrentRecord>;
  /**
   * Resolves when no process serves an earlier state of the image by a read lease. A reply that shows `current`, or that it has
   * ended, waits for it: another process must not show the earlier state after that reply.
   */
  settled(current: CurrentRecord, signal?: AbortSignal): Promise<void>;
  /** Removes a record for good, at any revision. Does not wait for read leases. */
  remove(id: string): Promise<void>;
  /** Resolves when no process serves `record`, which has just been removed, by a read lease. */
  outlastLeases(record: ImageRecord): Promise<void>;
}

const MAX_CACHED_RECORDS = 5_000;
/** Processes may serve the earlier state for this time after a change: a lease, and what their clocks may differ by. */
const SETTLED_MS = MAX_READ_LEASE_MS + 50_000;

interface CachedRecord {
  current: CurrentRecord;
  /** When the store was asked for it. */
  requested: Instant;
}

/** The wait for the read leases on the states before a revision, from when this process first saw it. */
interface Settling {
  revision: string;
  done: Promise<void>;
  isOver: boolean;
}

const AT_ONCE = Promise.resolve();

/**
 * Every request checks the record, because expiry and deletion take effect at once on every process. If the store can
 * check cheaply that a revision still holds, the parsed record is cached and only that check remains. Otherwise a read lease may
 * spare the request.
 * @param confirm Rejects if the store is not the one that was opened. A missing record proves nothing then.
 * @param holdsOriginals Whether the store is also that of the originals.
 * @param addOwned Lists a new image among those of its owner, together with the write of its record.
 */
export function createImageRecords(
  store: BlobStore,
  confirm: () => Promise<void>,
  holdsOriginals: boolean,
  leases: ReadLeases,
  addOwned: (record: ImageRecord) => Promise<void>,
): ImageRecords {
  const cache = new LRUCache<string, CachedRecord>({
    max: MAX_CACHED_RECORDS,
  });
  const settlings = new LRUCache<string, Settling>({ max: MAX_CACHED_RECORDS });
  const probe = hasRevisionProbe(store) ? store : null;
  const sampler = hasShardSampler(store) ? store : null;
  const joint = holdsOriginals && hasJointAdoption(store) ? store : null;

  function remember(record: ImageRecord, revision: string, requested: Instant): CurrentRecord {
    const current = { record, revision };
    if (!isUnknown(record) && (probe !== null || isShown(record)))
      cache.set(record.id, { current, requested });
    else cache.delete(record.id);
    return current;
  }

  function peek(id: string): CurrentRecord | undefined {
    if (probe === null) return undefined;
    const cached = cache.get(id)?.current;
    if (cached === undefined || probe.isCurrent(keyOf.record(id), cached.revision)) return cached;
    cache.delete(id);
    return undefined;
  }

  function peekServable(id: string): CurrentRecord | undefined {
    if (probe !== null) return peek(id);
    const cached = cache.get(id);
    if (cached === undefined || !leases.isValid(cached.requested)) return undefined;
    return isSettled(cached.current) ? cached.current : undefined;
  }

  async function loadUnconfirmed(id: string, signal?: AbortSignal): Promise<CurrentRecord | null> {
    const cached = peek(id);
    if (cached !== undefined) return cached;
    const requested = leases.now();
    const blob = await store.get(keyOf.record(id), signal === undefined ? {} : { signal });
    if (blob === null) return null;
    const bytes = await readAll(blob.body);
    const known = cache.get(id)?.current;
    if (known?.revision !== blob.revision) return remember(readRecord(bytes, id), blob.revision, requested);
    // Callers cache results by the object.
    cache.set(id, { current: known, requested });
    return known;
  }

  /** Waits for both writes: after a failure the caller removes what they stored. */
  async function withOwned<T>(record: ImageRecord, writing: Promise<T>): Promise<T> {
    const adding = addOwned(record);
    await Promise.allSettled([writing, adding]);
    await adding;
    return writing;
  }

  function createWith(both: JointAdoption): NonNullable<ImageRecords["createWithOriginal"]> {
    return async (record, path, signal) => {
      // The names of `keyOf`.
      const blobs = { original: { path }, record: encodeRecord(record) };
      const requested = leases.now();
      const stored = await withOwned(record, both.adoptTogether(`${record.id}/`, blobs, { signal }));
      return remember(record, stored.record.revision, requested);
    };
  }

  function isSettled({ record, revision }: CurrentRecord): boolean {
    const { id, shownUntil } = record;
    if (probe !== null || shownUntil === undefined) return true;
    if (leases.now().unixMs - shownUntil >= SETTLED_MS) return true;
    const known = settlings.get(id);
    return known?.revision === revision && known.isOver;
  }

  /** One wait for all who ask. */
  function settlingOf({ record: { id }, revision }: CurrentRecord): Settling {
    const known = settlings.get(id);
    if (known?.revision === revision) return known;
    const settling: Settling = {
      revision,
      isOver: false,
      done: leases.outlast().then(() => {
        settling.isOver = true;
      }),
    };
    settlings.set(id, settling);
    return settling;
  }

  return {
    peek,
    peekServable,
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
      for await (const key of listAll(store, "")) {
        const id = idOfRecord(key);
        if (id !== null) yield id;
      }
    },
    shards: sampler === null ? null : () => idsByShard(sampler),
    queries: hasRecordQueries(store) ? store : null,
    async create(record, signal) {
      const options = {
        ifRevision: null,
        ...(signal === undefined ? {} : { signal }),
      };
      const requested = leases.now();
      const writing = store.put(keyOf.record(record.id), encodeRecord(record), options);
      const { revision } = await withOwned(record, writing);
      return remember(record, revision, requested);
    },
    createWithOriginal: joint && createWith(joint),
    async replace(current, record) {
      const options = { ifRevision: current.revision };
      const requested = leases.now();
      const isShownNow = mayBeServed(current.record, requested.unixMs);
      const next = isShownNow ? { ...record, shownUntil: requested.unixMs } : record;
      const { revision } = await store.put(keyOf.record(record.id), encodeRecord(next), options);
      // What was not shown adds nothing to wait for.
      const known = settlings.get(record.id);
      if (!isShownNow && known?.revision === current.revision) known.revision = revision;
      return remember(next, revision, requested);
    },
    settled: (current, signal) =>
      isSettled(current) ? AT_ONCE : abortable(settlingOf(current).done, signal),
    async remove(id) {
      await store.delete(keyOf.record(id));
      cache.delete(id);
    },
    async outlastLeases(record) {
      if (probe === null && mayBeServed(record, leases.now().unixMs)) await leases.outlast();
    },
  };
}

async function* idsByShard(sampler: ShardSampler) {
  for await (const { names, shardCount } of sampler.shards()) {
    yield { ids: names.filter(isImageId), shardCount };
  }
}

/**
 * Like {@link decodeRecord}. Rejects the substitute of a damaged record as damaged too, unless it is gone or
 * withheld.
 */
export function readRecord(bytes: Buffer, id: string): ImageRecord {
  const record = decodeRecord(bytes, id);
  if (isUnknown(record)) throw damagedRecord(id, "it was unreadable and has been replaced by a substitute");
  return record;
}

/** Whether an image may be shown, apart from its expiry. */
function isShown({ gone, withheld, processing }: ImageRecord): boolean {
  return gone === null && withheld === null && processing === null;
}

/** Whether a process may serve this state of an image by a read lease. */
function mayBeServed(record: ImageRecord, nowMs: number): boolean {
  return expiryOf(record) > nowMs && isShown(record);
}

function isUnknown({ damaged, gone, withheld }: ImageRecord): boolean {
  return damaged === true && gone === null && withheld === null;
}
