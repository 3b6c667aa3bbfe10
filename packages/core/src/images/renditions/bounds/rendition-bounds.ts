import { LRUCache } from "lru-cache";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { NewerVersion } from "../../record/known-version.ts";
import { createImageShelf, type ImageShelf, maxBytesOf, type RankOf } from "./image-shelf.ts";
import { createStoreSearch } from "./search-store.ts";
import { keepStoreBound, type PassOptions, type StoreBoundOptions } from "./store-bound.ts";
import { createUsageLedger } from "./usage-ledger.ts";
import { createUsageNotes, type UsageNotes } from "./usage-notes.ts";

/**
 * Keeps the stored renditions within bounds: those of each image at each write, those of the whole store by passes over a
 * ledger. A removed rendition is rendered again on request.
 */
export interface RenditionBounds {
  /** A rendition was served, from memory, the store or a render. */
  used(id: string, key: string): void;
  /**
   * Stores a blob that was made from an image, and removes others of it if there is no room.
   * @returns `false`: it exceeds the bound of the image, or the store is over its bound.
   */
  store(image: BoundedImage, key: string, bytes: Uint8Array): Promise<boolean>;
  /** A blob was deleted. */
  deleted(id: string, key: string): void;
  /** All blobs of an image were deleted. */
  removed(id: string): void;
  /** Keeps the store within its bounds; at most every five minutes. @param mayGoOn After `false` nothing else is touched. */
  keep(mayGoOn: () => boolean): Promise<void>;
  /** Writes the uses that this process has noted. */
  close(): Promise<void>;
}

/** The image, with what its bound depends on. */
export interface BoundedImage {
  id: string;
  /** Bytes of the original. */
  size: number;
}

export interface RenditionBoundsOptions {
  store: BlobStore;
  rankOf: RankOf;
  /** Bytes of all renditions of the store; `null`: no limit. */
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
/** A blob up to this size is stored even then: stored failures are that small. */
const SMALL_BYTES = 4096;
const RETRY_AFTER_MS = 60_000;
const HOURS_A_DAY = 24;

export function createRenditionBounds(options: RenditionBoundsOptions): RenditionBounds {
  return new LedgerBounds(options);
}

class LedgerBounds implements RenditionBounds {
  readonly #options: RenditionBoundsOptions;
  readonly #shelves = new LRUCache<string, ImageShelf>({ max: MAX_SHELVES });
  readonly #notes: UsageNotes;
  readonly #search: () => Promise<void>;
  readonly #isBounded: boolean;
  readonly #bound: StoreBoundOptions;
  /** Bytes that were stored since the last pass began. */
  #storedBytes = 0;
  #lastPassMs: number | null = null;
  #failedMs: number | null = null;
  #passing: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: RenditionBoundsOptions) {
    const { store, maxBytes, idleDays, now, onError } = options;
    const ledger = createUsageLedger(store);
    const idleHours = idleDays === null ? null : idleDays * HOURS_A_DAY;
    const onEvicted = (id: string) => this.#shelves.delete(id);
    this.#options = options;
    this.#notes = createUsageNotes({ ledger, now, onError });
    this.#search = createStoreSearch({ store, notes: this.#notes, now });
    this.#isBounded = maxBytes !== null || idleDays !== null;
    this.#bound = { store, ledger, maxBytes, idleHours, now, onEvicted };
  }

  used(id: string, key: string): void {
    this.#shelves.get(id)?.touch(key);
    if (this.#isBounded) this.#notes.used(id);
  }

  async store({ id, size }: BoundedImage, key: string, bytes: Uint8Array): Promise<boolean> {
    const { maxBytes, store } = this.#options;
    this.#passIfMuch();
    const isFull = maxBytes !== null && this.#storedBytes >= maxBytes / STOP_PARTS;
    if (isFull && bytes.byteLength > SMALL_BYTES) return false;
    const shelf = this.#shelfOf(id);
    if (!(await shelf.makeRoom(key, bytes.byteLength, maxBytesOf(size)))) return false;
    let isStored = false;
    try {
      await store.put(key, bytes);
      isStored = true;
    } finally {
      shelf.settle(key, isStored);
    }
    this.#storedBytes += bytes.byteLength;
    if (this.#isBounded) this.#notes.stored(id, shelf.bytes(), bytes.byteLength);
    this.#passIfMuch();
    return true;
  }

  deleted(id: string, key: string): void {
    const shelf = this.#shelves.get(id);
    shelf?.settle(key, false);
    if (this.#isBounded && shelf !== undefined) this.#notes.stored(id, shelf.bytes(), 0);
  }

  removed(id: string): void {
    this.#shelves.delete(id);
    if (this.#isBounded) this.#notes.removed(id);
  }

  async keep(mayGoOn: () => boolean): Promise<void> {
    const nowMs = this.#options.now();
    const isRecent = this.#lastPassMs !== null && Math.abs(nowMs - this.#lastPassMs) < PASS_EVERY_MS;
    if (!this.#isBounded || isRecent) return;
    this.#lastPassMs = nowMs;
    await this.#search();
    await this.#passing;
    await this.#pass({ mayGoOn, isClockTrusted: true });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#passing?.catch(() => undefined); // The call that began it has the failure.
    await this.#notes.close();
  }

  #shelfOf(id: string): ImageShelf {
    let shelf = this.#shelves.get(id);
    if (shelf === undefined) {
      const { store, rankOf, now } = this.#options;
      shelf = createImageShelf({ store, id, rankOf, now });
      this.#shelves.set(id, shelf);
    }
    return shelf;
  }

  #pass(options: PassOptions): Promise<void> {
    this.#passing ??= this.#passOnce(options).finally(() => {
      this.#passing = null;
    });
    return this.#passing;
  }

  async #passOnce(options: PassOptions): Promise<void> {
    const beganWith = this.#storedBytes;
    try {
      await this.#notes.write();
      await keepStoreBound(this.#bound, options);
    } catch (error) {
      this.#failedMs = this.#options.now();
      // The processes of the newer release keep the bound.
      if (error instanceof NewerVersion) this.#storedBytes -= beganWith;
      throw error;
    }
    this.#failedMs = null;
    this.#storedBytes -= beganWith;
  }

  /** Behind a reply: a process that stores much does not wait for the next sweep. */
  #passIfMuch(): void {
    const { maxBytes, now, onError } = this.#options;
    const hasFailed = this.#failedMs !== null && Math.abs(now() - this.#failedMs) < RETRY_AFTER_MS;
    if (maxBytes === null || this.#isClosed || hasFailed || this.#passing !== null) return;
    if (this.#storedBytes < maxBytes / PASS_PARTS) return;
    void this.#pass({ mayGoOn: () => !this.#isClosed, isClockTrusted: false }).catch(onError);
  }
}
