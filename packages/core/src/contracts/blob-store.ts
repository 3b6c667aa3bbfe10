import type { Readable } from "node:stream";

/** An inclusive range of bytes, as in RFC 9110 §14.1.2: `{start: 0, end: 0}` is the first byte. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface BlobInfo {
  /** Length of the whole blob in bytes, also for a requested range. */
  size: number;
  /** Opaque and unique: every `put` under the key makes a new one. */
  revision: string;
}

export interface StoredBlob extends BlobInfo {
  /**
   * The requested bytes: a Buffer if they are few, else a stream. The receiver reads a stream to its end or destroys it.
   */
  body: Buffer | Readable;
}

export interface PutOptions {
  /**
   * Makes the write conditional: the blob must have this revision, or must not exist for `null`. Otherwise the promise rejects
   * with `conflict` and nothing changes. Absent: replaces any blob.
   */
  ifRevision?: string | null;
  /** Aborting before the promise settles leaves the old state and rejects with the signal's reason. */
  signal?: AbortSignal;
}

export interface GetOptions {
  /** Must lie within the blob; a start at or beyond its end rejects with `bad_request`. An `end` beyond it is cut. */
  range?: ByteRange;
  signal?: AbortSignal;
}

export interface ListOptions {
  /** As returned by the page before; absent for the first page. */
  cursor?: string;
  /** At most this many keys, 1 to 1000. @default 1000 */
  limit?: number;
}

export interface KeyPage {
  /** Keys in no particular order. */
  keys: string[];
  /** Absent on the last page. */
  cursor?: string;
}

/**
 * Keyed bytes with conditional writes. One contract in three roles: records, originals, renditions.
 *
 * A key is one to eight segments joined by `/`, each matching `[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}`; any other key
 * rejects with `bad_request`. A missing key is `null` or `false`, never an error. Any other failure rejects with
 * `store_unavailable` (`no_space` when the backend is full) whose `cause` is the driver's error.
 */
export interface BlobStore {
  /**
   * Stores `body` under `key`, all or nothing: if the body fails, the signal aborts or the backend fails, the promise
   * rejects and readers still see the old state. When it resolves, the bytes are as durable as the backend can make
   * them, and every later `get` on any node sees them. A stream is always consumed or destroyed.
   */
  put(key: string, body: Uint8Array | Readable, options?: PutOptions): Promise<BlobInfo>;
  /** Resolves once the bytes are known to exist; later trouble surfaces on the body's stream. `null`: no such key. */
  get(key: string, options?: GetOptions): Promise<StoredBlob | null>;
  /** `null`: no such key. */
  stat(key: string): Promise<BlobInfo | null>;
  /** @returns whether there was something to remove. */
  delete(key: string): Promise<boolean>;
  /** The keys that begin with `prefix`, which ends in `/` or is empty. A key that exists throughout is never missed. */
  list(prefix: string, options?: ListOptions): Promise<KeyPage>;
  /** Releases what the store holds. Calling it twice is allowed. */
  close(): Promise<void>;
}

/**
 * Optional ability: the store is a directory of this machine. A store has all of this or nothing of it; see
 * {@link isLocalStore}.
 */
export interface LocalStore {
  /** Existing directory on the store's own volume, for files to {@link adopt}. The store removes leftovers from it. */
  readonly spoolDirectory: string;
  /**
   * As `put` with the content of the file at `path`, which lies in `spoolDirectory` and whose bytes are not synced yet: the
   * file becomes the blob without being copied. The file at `path` may remain; the caller removes it in any case.
   */
  adopt(key: string, path: string, options?: PutOptions): Promise<BlobInfo>;
  /** Path of the file that holds exactly the blob's bytes, for other processes to open. `null`: no such key. */
  localPath(key: string): Promise<string | null>;
  /** A secret beside the data: 32 random bytes, made at the first call and the same for all processes on this store. */
  localSecret(): Promise<Buffer>;
  /** The secret as it is; makes none. `null`: it was never made, or it is gone. */
  readLocalSecret(): Promise<Buffer | null>;
  /** Where the secret is kept, for messages. */
  readonly secretPath: string;
  /**
   * Removes the files of blobs that were replaced before a time; never those of current blobs. A replaced file stays on the
   * disk for a while, so that a copy of the directory made meanwhile is whole. Safe to run on several processes at once.
   * @param beforeMs Unix milliseconds.
   * @param mayGoOn Called before every key; after `false` no further key is touched.
   * @returns how many files were removed.
   */
  removeSuperseded(beforeMs: number, mayGoOn: () => boolean): Promise<number>;
}

const LOCAL_MEMBERS = [
  ...(["spoolDirectory", "adopt", "localPath"] as const),
  ...(["localSecret", "readLocalSecret", "secretPath", "removeSuperseded"] as const),
] satisfies (keyof LocalStore)[];

export function isLocalStore(store: BlobStore): store is BlobStore & LocalStore {
  return LOCAL_MEMBERS.every((member) => member in store);
}

/** Optional ability: a check, cheap enough for every request, whether a blob is unchanged. */
export interface RevisionProbe {
  /** Whether `key` still has `revision`, as current as a `get`. Synchronous, never throws; `false` if it cannot tell. */
  isCurrent(key: string, revision: string): boolean;
}

export function hasRevisionProbe(store: BlobStore): store is BlobStore & RevisionProbe {
  return "isCurrent" in store;
}

/** Optional ability: removes many blobs of one prefix at the cost of one. */
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

/** A part of a store's keys, selected by their first characters. */
export interface Shard {
  /** First segments of the shard's keys, each once, in no particular order. */
  names: string[];
  /** Number of all shards of the store, this one included. */
  shardCount: number;
}

/** Optional ability: yields the keys in parts of similar size, so that a few of them represent all. */
export interface ShardSampler {
  /** Yields every shard once, in random order. A key that exists throughout is in exactly one of them. */
  shards(): AsyncGenerator<Shard>;
}

export function hasShardSampler(store: BlobStore): store is BlobStore & ShardSampler {
  return "shards" in store;
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,7}$/;

/** Whether `key` is of the grammar that {@link BlobStore} documents. */
export function isBlobKey(key: string): boolean {
  return KEY.test(key);
}
