import { LRUCache } from "lru-cache";
import {
  type BlobStore,
  hasJointAdoption,
  hasRevisionProbe,
  type JointAdoption,
  type RevisionProbe,
} from "../../contracts/blob-store.ts";
import { hasRecordQueries, type RecordQueries } from "../../contracts/record-queries.ts";
import { isServiceError } from "../../errors.ts";
import { readAll } from "../../stores/blob-body.ts";
import { listAll } from "../../stores/list-all.ts";
import type { NameIndex } from "../../stores/name-index.ts";
import type { CopyIndex } from "./copy-index.ts";
import { type ImageRecord, idOfRecord, keyOf, type Outbox } from "./image-record.ts";
import { addMarks, removeMarks } from "./marks.ts";
import { encodeRecord, isUnknown, readRecord } from "./record-codec.ts";
import { shownRevision, withOutbox } from "./shown-revision.ts";

/**
 * A record at one revision. The same object is returned while the revision holds, so that callers can cache results
 * by it.
 */
export interface CurrentRecord {
  readonly record: ImageRecord;
  readonly revision: string;
}

/** Derives the events of each change of a record. */
export interface RecordEvents {
  /**
   * Adds the events of a change to the outbox of `after`. When it resolves, another node finds them if this one dies after the write.
   * Without a receiver, resolves to `after`.
   */
  derive(before: ImageRecord | null, after: ImageRecord): Promise<ImageRecord>;
  /** Delivers the events of a record that was just written, of which there may be none. Returns at once. */
  deliver(current: CurrentRecord): void;
}

export interface ImageRecordsOptions {
  store: BlobStore;
  /** Rejects if the store is not the one that was opened. A missing record proves nothing then. */
  confirm(): Promise<void>;
  /** Whether the store is also that of the originals. */
  holdsOriginals: boolean;
  owned: NameIndex;
  marked: NameIndex;
  copies: CopyIndex;
  events: RecordEvents;
}

interface CreateOptions {
  signal?: AbortSignal;
  /** The record when its copies got into the index. @default they have not */
  draft?: ImageRecord;
  /** The record that was removed to make room for this one. @default there was none */
  before?: ImageRecord;
}

/** Attempts of a write while only the outbox changes. Each delivery changes it once. */
const MAX_OVERTAKEN = 100;
const MAX_CACHED_RECORDS = 5_000;

/**
 * Every request checks the record, because expiry and deletion take effect at once on every process. If the store can
 * check cheaply that a revision still holds, the parsed record is cached and only that check remains.
 */
export class ImageRecords {
  /** Queries of the store; `null`: it has none, and every record is read. */
  readonly queries: RecordQueries | null;
  readonly #options: ImageRecordsOptions;
  readonly #probe: RevisionProbe | null;
  readonly #both: JointAdoption | null;
  readonly #cache = new LRUCache<string, CurrentRecord>({ max: MAX_CACHED_RECORDS });

  constructor(options: ImageRecordsOptions) {
    const { store, holdsOriginals } = options;
    this.#options = options;
    this.#probe = hasRevisionProbe(store) ? store : null;
    this.queries = hasRecordQueries(store) ? store : null;
    this.#both = holdsOriginals && hasJointAdoption(store) ? store : null;
  }

  /** The cached record if it is known to be current without a request to the store. `undefined`: unknown. */
  peek(id: string): CurrentRecord | undefined {
    if (this.#probe === null) return undefined;
    const cached = this.#cache.get(id);
    if (cached === undefined || this.#probe.isCurrent(keyOf.record(id), cached.revision)) return cached;
    this.#cache.delete(id);
    return undefined;
  }

  /**
   * Loads the current record. `null` if there is none, after confirming the identity of the store. Rejects with
   * `damaged` for an unreadable record, and with `store_unavailable` for one that a newer release wrote.
   */
  async load(id: string, signal?: AbortSignal): Promise<CurrentRecord | null> {
    const current = await this.loadUnconfirmed(id, signal);
    if (current === null) await this.#options.confirm();
    return current;
  }

  /** Like `load`, without confirming the identity of the store. For callers that neither remove nor refuse anything on `null`. */
  async loadUnconfirmed(id: string, signal?: AbortSignal): Promise<CurrentRecord | null> {
    const cached = this.peek(id);
    if (cached !== undefined) return cached;
    const blob = await this.#options.store.get(keyOf.record(id), signal === undefined ? {} : { signal });
    if (blob === null) return null;
    const bytes = await readAll(blob.body);
    const known = this.#cache.get(id);
    return known?.revision === blob.revision ? known : this.#remember(readRecord(bytes, id), blob.revision);
  }

  /** A record that `load` rejects as damaged. `null` if there is no record, or if it is readable. */
  async loadDamaged(id: string): Promise<{ bytes: Buffer; revision: string } | null> {
    const blob = await this.#options.store.get(keyOf.record(id));
    if (blob === null) return null;
    const bytes = await readAll(blob.body);
    try {
      readRecord(bytes, id);
      return null;
    } catch (error) {
      if (!isServiceError(error, "damaged")) throw error;
      return { bytes, revision: blob.revision };
    }
  }

  /** The IDs of all records, in no particular order. */
  async *ids(): AsyncGenerator<string> {
    for await (const key of listAll(this.#options.store, "")) {
      const id = idOfRecord(key);
      if (id !== null) yield id;
    }
  }

  /** Creates a record: the commit point of an image. Rejects with `conflict` if one exists. */
  create(record: ImageRecord, { signal, ...options }: CreateOptions): Promise<CurrentRecord> {
    const put = { ifRevision: null, ...(signal && { signal }) };
    const write = (bytes: Buffer) => this.#options.store.put(keyOf.record(record.id), bytes, put);
    return this.#create(record, options, async (bytes) => (await write(bytes)).revision);
  }

  /**
   * Like {@link create}, together with the original: a spooled file, as for `LocalStore.adopt`. Both are stored or none. Resolves to
   * `null`, without storing anything, if the store of the records is not that of the originals, or cannot do this.
   */
  async createWithOriginal(
    record: ImageRecord,
    path: string,
    { signal, ...options }: CreateOptions,
  ): Promise<CurrentRecord | null> {
    const both = this.#both;
    if (both === null) return null;
    return this.#create(record, options, async (bytes) => {
      // The names of `keyOf`.
      const blobs = { original: { path }, record: bytes };
      return (await both.adoptTogether(`${record.id}/`, blobs, signal && { signal })).record.revision;
    });
  }

  /** Adds the image to the indexes beside the write. Waits for both: after a failure the caller removes what they stored. */
  async #create(
    record: ImageRecord,
    { draft, before }: CreateOptions,
    write: (bytes: Buffer) => Promise<string>,
  ): Promise<CurrentRecord> {
    const next = await this.#options.events.derive(before ?? null, record);
    const writing = write(encodeRecord(next));
    const adding = this.addEntries(record, draft);
    await Promise.allSettled([writing, adding]);
    await adding;
    return this.#written(next, await writing);
  }

  /**
   * Replaces a record by compare-and-set. Rejects with `conflict` if more than the outbox of `current` has changed.
   */
  async replace(current: CurrentRecord, record: ImageRecord): Promise<CurrentRecord> {
    const { store, events } = this.#options;
    let latest = current;
    await addMarks(this.#options.marked, record, current.record);
    for (let attempt = 1; ; attempt++) {
      const next = await events.derive(current.record, withOutbox(record, latest.record.outbox));
      const options = { ifRevision: latest.revision };
      try {
        const { revision } = await store.put(keyOf.record(record.id), encodeRecord(next), options);
        // Before any wait: a later change must not be delivered first.
        const written = this.#written(next, revision);
        await removeMarks(this.#options.marked, current.record, record);
        return written;
      } catch (error) {
        if (!isServiceError(error, "conflict") || attempt === MAX_OVERTAKEN) throw error;
        const found = await this.loadUnconfirmed(record.id).catch(() => null); // The conflict is reported.
        if (found === null || shownRevision(found.record) !== shownRevision(current.record)) throw error;
        latest = found;
      }
    }
  }

  /**
   * Replaces only the outbox, by compare-and-set: for clients and caches, the state stays the same. Rejects with `conflict` if
   * `current` is not the current revision.
   * @param mayBeLost Whether a power cut may undo it: for a delivery, which is then repeated.
   */
  async replaceOutbox(current: CurrentRecord, outbox: Outbox | undefined, mayBeLost: boolean) {
    const next = withOutbox(current.record, outbox);
    const options = { ifRevision: current.revision, mayBeLost };
    const { revision } = await this.#options.store.put(keyOf.record(next.id), encodeRecord(next), options);
    return this.#remember(next, revision);
  }

  /** Adds an image to the indexes: of its owner's images, of its copies, and of operators. @param draft As for {@link CreateOptions}. */
  async addEntries(record: ImageRecord, draft?: ImageRecord): Promise<void> {
    const { owned, copies, marked } = this.#options;
    const owner = record.owner?.name ?? null;
    await Promise.all([
      owner && owned.add(owner, record),
      copies.add(record, draft),
      addMarks(marked, record),
    ]);
  }

  /** Removes a record for good, at any revision. */
  async remove(id: string): Promise<void> {
    await this.#options.store.delete(keyOf.record(id));
    this.#cache.delete(id);
  }

  #written(record: ImageRecord, revision: string): CurrentRecord {
    const current = this.#remember(record, revision);
    this.#options.events.deliver(current);
    return current;
  }

  #remember(record: ImageRecord, revision: string): CurrentRecord {
    const current = { record, revision };
    if (!isUnknown(record)) this.#cache.set(record.id, current);
    else this.#cache.delete(record.id);
    return current;
  }
}
