import type { Readable } from "node:stream";

/** An inclusive range of bytes, as in RFC 9110 §14.1.2: `{start: 0, end: 0}` is the first byte. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface BlobInfo {
  /** Length of the whole blob in bytes, even if a range was requested. */
  size: number;
  /** Opaque and unique: every `put` under the key creates a new one. */
  revision: string;
}

export interface StoredBlob extends BlobInfo {
  /**
   * The requested bytes: a Buffer if they are few, else a stream. The receiver must read a stream to its end
   * or destroy it. A Buffer may be a view of longer memory, such as a receive buffer: copy it to keep it.
   */
  body: Buffer | Readable;
}

/** Optional ability of a body: it reads into memory that its reader supplies and can reuse. */
export interface DirectReadable extends Readable {
  /**
   * Reads the next bytes into `target`, which belongs to the stream until the promise resolves. After the first call the
   * stream emits no data, only `end`, `error` and `close`. Call it again only when the promise has resolved.
   * @returns the number of bytes; 0 at the end, after a failure, and for a destroyed stream. Never rejects.
   *   `null`: the stream has begun to read its data otherwise.
   */
  readInto(target: Uint8Array): Promise<number> | null;
}

export function isDirectReadable(body: Readable): body is DirectReadable {
  return "readInto" in body;
}

export interface PutOptions {
  /**
   * Makes the write conditional. The blob must have this revision; `null` means that it must not exist.
   * Otherwise the promise rejects with `conflict` and nothing changes. Absent: the write replaces any blob.
   */
  ifRevision?: string | null;
  /**
   * If it aborts before the promise settles, the old state stays and the promise rejects with the signal's
   * reason.
   */
  signal?: AbortSignal;
  /**
   * Whether a power cut may lose the blob, which can be made again. A backend may then save flushes. It never keeps a part:
   * after a power cut the key has all bytes of this write, or what it had before.
   * @default false
   */
  mayBeLost?: boolean;
  /**
   * Whether the replaced bytes are of no use, because the blob can be made again. A backend that keeps replaced bytes for copies
   * of a running store then deletes them at once, so that a blob may be replaced any number of times. A copy may lack the blob.
   * @default false
   */
  withoutHistory?: boolean;
}

export interface GetOptions {
  /**
   * Must begin within the blob; a start at or beyond its end rejects with `bad_request`. An `end` beyond the
   * blob is cut.
   */
  range?: ByteRange;
  signal?: AbortSignal;
}

export interface ListOptions {
  /** The cursor of the previous page; absent for the first page. */
  cursor?: string;
  /** At most this many keys, 1 to 1000. @default 1000 */
  limit?: number;
  /**
   * Called for each directory, by its absolute path, that this process may not read. The listing goes on without its keys, and calls
   * it again with a later page. Only stores of files call it. Absent: the promise rejects with that error.
   */
  onUnreadable?: (path: string, error: unknown) => void;
}

export interface KeyPage {
  /** Keys in no particular order. */
  keys: string[];
  /** Absent on the last page. */
  cursor?: string;
}

/**
 * Keyed bytes with conditional writes. One contract serves three roles: records, originals and renditions.
 *
 * A key is one to eight segments joined by `/`, each matching `[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}`; any other key
 * rejects with `bad_request`. A missing key is `null` or `false`, never an error. Any other failure rejects with
 * `store_unavailable` (`no_space` when the backend is full) whose `cause` is the driver's error.
 */
export interface BlobStore {
  /**
   * Stores `body` under `key`, all or nothing. If the body fails, the signal aborts or the backend fails, the
   * promise rejects and readers still see the old state. Once it resolves, the bytes are as durable as the
   * backend can make them, and every later `get` on any node returns them. A stream is always consumed or
   * destroyed.
   */
  put(key: string, body: Uint8Array | Readable, options?: PutOptions): Promise<BlobInfo>;
  /**
   * Resolves once the bytes are known to exist; a later read error appears on the body's stream. `null`: no
   * such key.
   */
  get(key: string, options?: GetOptions): Promise<StoredBlob | null>;
  /** `null`: no such key. */
  stat(key: string): Promise<BlobInfo | null>;
  /** @returns whether a blob was deleted. */
  delete(key: string): Promise<boolean>;
  /**
   * The keys that begin with `prefix`, which ends in `/` or is empty. A key that exists during the whole
   * listing is never missed.
   */
  list(prefix: string, options?: ListOptions): Promise<KeyPage>;
  /** Releases the store's resources. Calling it twice is allowed. */
  close(): Promise<void>;
}

/**
 * Optional ability: the store is a directory on this machine. A store has all of these members or none; see
 * {@link isLocalStore}.
 */
export interface LocalStore {
  /**
   * Existing directory on the store's own volume, for files to {@link adopt}. The store deletes leftover
   * files from it.
   */
  readonly spoolDirectory: string;
  /**
   * Like `put` with the content of the file at `path`. That file lies in `spoolDirectory`, and its bytes are
   * not flushed yet. It becomes the blob without being copied. The file at `path` may remain; the caller
   * deletes it in any case.
   */
  adopt(key: string, path: string, options?: PutOptions): Promise<BlobInfo>;
  /** Absolute path of a directory below which all files of {@link localPath} lie. */
  readonly blobDirectory: string;
  /**
   * Absolute path of a file that holds exactly the blob's bytes, so that other processes can open it. `null`: no such
   * key.
   */
  localPath(key: string): Promise<string | null>;
  /**
   * A secret stored beside the data: 32 random bytes. The first call creates it; all processes on this store
   * share it.
   */
  localSecret(): Promise<Buffer>;
  /** The existing secret; this call creates none. `null`: it was never created, or it was deleted. */
  readLocalSecret(): Promise<Buffer | null>;
  /** Path of the secret, for messages. */
  readonly secretPath: string;
  /**
   * Deletes the files of blobs that were replaced before a time, never those of current blobs. A replaced
   * file stays on disk for a while, so that a copy of the directory made meanwhile is complete. Several
   * processes may run this at once.
   * @param beforeMs Unix milliseconds.
   * Called before every key; after it returns `false`, no further key is processed.
   * @returns the number of deleted files.
   */
  removeSuperseded(beforeMs: number, mayGoOn: () => boolean): Promise<number>;
}

const LOCAL_MEMBERS = [
  ...(["spoolDirectory", "adopt", "blobDirectory", "localPath"] as const),
  ...(["localSecret", "readLocalSecret", "secretPath", "removeSuperseded"] as const),
] satisfies (keyof LocalStore)[];

export function isLocalStore(store: BlobStore): store is BlobStore & LocalStore {
  return LOCAL_MEMBERS.every((member) => member in store);
}

/** Content of a new blob: bytes, or a file as for {@link LocalStore.adopt}. */
export type NewContent = Uint8Array | { path: string };

/** Optional ability of a {@link LocalStore}: creates several blobs in one step, with fewer flushes than one by one. */
export interface JointAdoption {
  /**
   * Creates the blobs `<prefix><name>`. Readers see all of them or none, also after a power cut. Rejects with `conflict`
   * if a key begins with the prefix.
   * @param prefix one key segment and `/`.
   * @param blobs the contents by name; a name is one key segment.
   */
  adoptTogether<Name extends string>(
    prefix: string,
    blobs: Record<Name, NewContent>,
    options?: Pick<PutOptions, "signal">,
  ): Promise<Record<Name, BlobInfo>>;
}

export function hasJointAdoption(store: BlobStore): store is BlobStore & LocalStore & JointAdoption {
  return isLocalStore(store) && "adoptTogether" in store;
}

/** Optional ability: a check whether a blob is unchanged, cheap enough for every request. */
export interface RevisionProbe {
  /**
   * Whether `key` still has `revision`, as current as a `get`. Synchronous; never throws; `false` if it
   * cannot be determined.
   */
  isCurrent(key: string, revision: string): boolean;
}

export function hasRevisionProbe(store: BlobStore): store is BlobStore & RevisionProbe {
  return "isCurrent" in store;
}

/** Optional ability: deletes many blobs below one prefix at the cost of one deletion. */
export interface BulkRemoval {
  /**
   * Deletes the blobs `<prefix><name>` and all blobs below `<prefix><name>/`, one name after the other. Once
   * it resolves, the deletion is as durable as `delete`. A name without blobs is no error.
   * @param prefix ends in `/`.
   * @param names key segments.
   */
  removeNamed(prefix: string, names: readonly string[]): Promise<void>;
}

export function hasBulkRemoval(store: BlobStore): store is BlobStore & BulkRemoval {
  return "removeNamed" in store;
}

const KEY = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,7}$/;

/** Whether `key` matches the grammar that {@link BlobStore} documents. */
export function isBlobKey(key: string): boolean {
  return KEY.test(key);
}

/** The store of each role. */
export interface StorageRoles {
  records: BlobStore;
  originals: BlobStore;
  renditions: BlobStore;
}

/** One store for everything, or one per role. */
export type ImageStorage = BlobStore | StorageRoles;
