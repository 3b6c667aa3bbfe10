import { LRUCache } from "lru-cache";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { NewerVersion } from "../../record/known-version.ts";
import { createImageShelf, type ImageShelf, maxBytesOf, type RankOf } from "./image-shelf.ts";
import { createStoreSearch } from "./search-store.ts";
import { keepStoreBound, type PassOptions } from "./store-bound.ts";
import { createUsageLedger } from "./usage-ledger.ts";
import { createUsageNotes } from "./usage-notes.ts";

/**
 * Keeps what is stored of renditions within bounds: of each image at each write, of the whole store and in idle time by
 * passes over a ledger. What is removed is rendered again when it is asked for.
 */
export interface RenditionBounds {
  /** A rendition was served, from memory, the store or a render. */
  used(id: string, key: string): void;
  /**
   * Stores a blob that was made from an image, and removes others of it where there is no room.
   * @returns `false`: it is larger than all that may be stored of the image, or the store is over its bound.
   */
  store(image: BoundedImage, key: string, bytes: Uint8Array): Promise<boolean>;
  /** A blob was deleted. */
  deleted(id: string, key: string): void;
  /** All that was stored of an image was deleted. */
  removed(id: string): void;
  /** Keeps the store within its bounds; at most every five minutes. @param mayGoOn from `false` on nothing else is touched. */
  keep(mayGoOn: () => boolean): Promise<void>;
  /** Writes what this process has noted of uses. */
  close(): Promise<void>;
}

/** What the bound of an image depends on. */
export interface BoundedImage {
  id: string;
  /** Bytes of the original. */
  size: number;
}

export interface RenditionBoundsOptions {
  store: BlobStore;
  rankOf: RankOf;
  /** Bytes of all renditions of the store; `null`: any. */
  maxBytes: number | null;
  /** Days after its last use in which an image keeps its renditions; `null`: for ever. */
  idleDays: number | null;
  /** The time in Unix milliseconds. */
  now(): number;
  onError(error: unknown): void;
}

const MAX_SHELVES = 512;
const PASS_EVERY_MS = 5 * 60_000;
/** A process that has stored this part of the store's bound since its last pass makes another at once. */
const PASS_PARTS = 32;
/** A process that has stored this part of it stores no more before it has made a pass. */
const STOP_PARTS = 16;
/** Of a blob that is stored nevertheless: remembered failures are so small. */
const SMALL_BYTES = 4096;
const RETRY_AFTER_MS = 60_000;
const HOURS_A_DAY = 24;

export function createRenditionBounds(options: RenditionBoundsOptions): RenditionBounds {
  const { store, rankOf, maxBytes, idleDays, now, onError } = options;
  const shelves = new LRUCache<string, ImageShelf>({ max: MAX_SHELVES });
  const ledger = createUsageLedger(store);
  const notes = createUsageNotes({ ledger, now, onError });
  const search = createStoreSearch({ store, notes, now });
  const isBounded = maxBytes !== null || idleDays !== null;
  const idleHours = idleDays === null ? null : idleDays * HOURS_A_DAY;
  const bound = { store, ledger, maxBytes, idleHours, now, onEvicted: (id: string) => shelves.delete(id) };
  /** Bytes that were stored since the last pass began. */
  let storedBytes = 0;
  let lastPassMs: number | null = null;
  let failedMs: number | null = null;
  let passing: Promise<void> | null = null;
  let isClosed = false;

  function shelfOf(id: string): ImageShelf {
    let shelf = shelves.get(id);
    if (shelf === undefined) {
      shelf = createImageShelf({ store, id, rankOf, now });
      shelves.set(id, shelf);
    }
    return shelf;
  }

  function pass(options: PassOptions): Promise<void> {
    passing ??= passOnce(options).finally(() => {
      passing = null;
    });
    return passing;
  }

  async function passOnce(options: PassOptions): Promise<void> {
    const beganWith = storedBytes;
    try {
      await notes.write();
      await keepStoreBound(bound, options);
    } catch (error) {
      failedMs = now();
      // The processes of the newer release keep the bound.
      if (error instanceof NewerVersion) storedBytes -= beganWith;
      throw error;
    }
    failedMs = null;
    storedBytes -= beganWith;
  }

  /** Behind a reply: a process that stores much does not wait for the next sweep. */
  function passIfMuch(): void {
    const hasFailed = failedMs !== null && Math.abs(now() - failedMs) < RETRY_AFTER_MS;
    if (maxBytes === null || isClosed || hasFailed || passing !== null) return;
    if (storedBytes < maxBytes / PASS_PARTS) return;
    void pass({ mayGoOn: () => !isClosed, isClockTrusted: false }).catch(onError);
  }

  return {
    used(id, key) {
      shelves.get(id)?.touch(key);
      if (isBounded) notes.used(id);
    },
    async store({ id, size }, key, bytes) {
      passIfMuch();
      const isFull = maxBytes !== null && storedBytes >= maxBytes / STOP_PARTS;
      if (isFull && bytes.byteLength > SMALL_BYTES) return false;
      const shelf = shelfOf(id);
      if (!(await shelf.makeRoom(key, bytes.byteLength, maxBytesOf(size)))) return false;
      let isStored = false;
      try {
        await store.put(key, bytes);
        isStored = true;
      } finally {
        shelf.settle(key, isStored);
      }
      storedBytes += bytes.byteLength;
      if (isBounded) notes.stored(id, shelf.bytes(), bytes.byteLength);
      passIfMuch();
      return true;
    },
    deleted(id, key) {
      const shelf = shelves.get(id);
      shelf?.settle(key, false);
      if (isBounded && shelf !== undefined) notes.stored(id, shelf.bytes(), 0);
    },
    removed(id) {
      shelves.delete(id);
      if (isBounded) notes.removed(id);
    },
    async keep(mayGoOn) {
      const nowMs = now();
      if (!isBounded || (lastPassMs !== null && Math.abs(nowMs - lastPassMs) < PASS_EVERY_MS)) return;
      lastPassMs = nowMs;
      await search();
      await passing;
      await pass({ mayGoOn, isClockTrusted: true });
    },
    async close() {
      isClosed = true;
      await passing?.catch(() => undefined); // The call that began it has the failure.
      await notes.close();
    },
  };
}
