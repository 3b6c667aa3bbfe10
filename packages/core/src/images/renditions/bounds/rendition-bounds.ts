import { LRUCache } from "lru-cache";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { NewerVersion } from "../../record/known-version.ts";
import { removeMade } from "../remove-stored.ts";
import type { NotedImage, RenditionNotes } from "../rendition-notes.ts";
import { createImageShelf, type ImageShelf, maxBytesOf, type RankOf } from "./image-shelf.ts";
import { createStoreSearch } from "./search-store.ts";
import { keepStoreBound, type PassOptions, type StoreBoundOptions } from "./store-bound.ts";
import { createUsageLedger } from "./usage-ledger.ts";
import { createUsageNotes, type UsageNotes } from "./usage-notes.ts";

/**
 * Keeps the stored renditions within limits: those of one image at each write, those of the whole store by passes over a
 * ledger. A removed rendition is rendered again on request.
 */
export interface RenditionBounds {
  /** Notes that a rendition was served, from memory, the store or a render. */
  used(id: string, key: string): void;
  /**
   * Stores a blob derived from an image, and evicts others of the image if they do not fit.
   * @returns `false`: not stored, since the image or the store is at its limit.
   */
  store(image: BoundedImage, key: string, bytes: Uint8Array): Promise<boolean>;
  /** Notes that a blob was deleted. */
  deleted(id: string, key: string): void;
  /** Notes that all blobs of an image were deleted. */
  removed(id: string): void;
  /** Makes a pass over the store, at most every five minutes. @param mayGoOn `false` stops the pass. */
  keep(mayGoOn: () => boolean): Promise<void>;
  /** Writes the noted uses to the ledger. */
  close(): Promise<void>;
}

/** An image, and the size that its limit depends on. */
export interface BoundedImage extends NotedImage {
  /** Bytes of the original. */
  size: number;
}

export interface RenditionBoundsOptions {
  store: BlobStore;
  notes: RenditionNotes;
  rankOf: RankOf;
  /** Limit for all renditions of the store together in bytes; `null`: no limit. */
  maxBytes: number | null;
  /** Days that an image keeps its renditions after their last use; `null`: for ever. */
  idleDays: number | null;
  /** The time in Unix milliseconds. */
  now(): number;
  onError(error: unknown): void;
}

const MAX_SHELVES = 512;
const PASS_EVERY_MS = 5 * 60_000;
/** A process that stored 1/32 of the store's limit since its last pass starts another at once. */
const PASS_PARTS = 32;
/** A process that stored 1/16 of the limit stores nothing more until a pass has succeeded. */
const STOP_PARTS = 16;
const RETRY_AFTER_MS = 60_000;
const HOURS_A_DAY = 24;

export function createRenditionBounds(options: RenditionBoundsOptions): RenditionBounds {
  return new LedgerBounds(options);
}

class LedgerBounds implements RenditionBounds {
  readonly #options: RenditionBoundsOptions;
  readonly #shelves = new LRUCache<string, ImageShelf>({ max: MAX_SHELVES });
  readonly #usage: UsageNotes;
  readonly #search: () => Promise<void>;
  readonly #isBounded: boolean;
  readonly #bound: StoreBoundOptions;
  /** Bytes stored since the last pass began. */
  #storedBytes = 0;
  #lastPassMs: number | null = null;
  #failedMs: number | null = null;
  #passing: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: RenditionBoundsOptions) {
    const { store, notes, maxBytes, idleDays, now, onError } = options;
    const ledger = createUsageLedger(store);
    const idleHours = idleDays === null ? null : idleDays * HOURS_A_DAY;
    const evict = async (id: string) => {
      await removeMade(store, id);
      await notes.remove(id);
      this.#shelves.delete(id);
    };
    this.#options = options;
    this.#usage = createUsageNotes({ ledger, now, onError });
    this.#search = createStoreSearch({ store, notes: this.#usage, now });
    this.#isBounded = maxBytes !== null || idleDays !== null;
    this.#bound = { store, ledger, maxBytes, idleHours, now, evict };
  }

  used(id: string, key: string): void {
    this.#shelves.get(id)?.touch(key);
    if (this.#isBounded) this.#usage.used(id);
  }

  async store(image: BoundedImage, key: string, bytes: Uint8Array): Promise<boolean> {
    const { maxBytes, store, onError } = this.#options;
    const { id, size } = image;
    this.#passIfMuch();
    const isFull = maxBytes !== null && this.#storedBytes >= maxBytes / STOP_PARTS;
    if (isFull) return false;
    const shelf = this.#shelfOf(image);
    if (!(await shelf.makeRoom(key, bytes.byteLength, maxBytesOf(size)))) return false;
    try {
      await store.put(key, bytes, { mayBeLost: true });
    } catch (error) {
      await shelf.settle(key, false);
      throw error;
    }
    // Without its note, the rendition is rendered again. It counts, and is removed with its image, all the same.
    await shelf.settle(key, true).catch(onError);
    this.#storedBytes += bytes.byteLength;
    if (this.#isBounded) this.#usage.stored(id, shelf.bytes(), bytes.byteLength);
    this.#passIfMuch();
    return true;
  }

  deleted(id: string, key: string): void {
    const shelf = this.#shelves.get(id);
    shelf?.forget(key);
    if (this.#isBounded && shelf !== undefined) this.#usage.stored(id, shelf.bytes(), 0);
  }

  removed(id: string): void {
    this.#shelves.delete(id);
    if (this.#isBounded) this.#usage.removed(id);
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
    await this.#passing?.catch(() => undefined); // The caller that started the pass gets the failure.
    await this.#usage.close();
  }

  #shelfOf(image: NotedImage): ImageShelf {
    let shelf = this.#shelves.get(image.id);
    if (shelf === undefined) {
      const { store, notes, rankOf, now } = this.#options;
      shelf = createImageShelf({ store, notes, image, rankOf, now });
      this.#shelves.set(image.id, shelf);
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
      await this.#usage.write();
      await keepStoreBound(this.#bound, options);
    } catch (error) {
      this.#failedMs = this.#options.now();
      // Processes of the newer release keep the limit.
      if (error instanceof NewerVersion) this.#storedBytes -= beganWith;
      throw error;
    }
    this.#failedMs = null;
    this.#storedBytes -= beganWith;
  }

  /** Starts a pass in the background: a process that stores many bytes does not wait for the next sweep. */
  #passIfMuch(): void {
    const { maxBytes, now, onError } = this.#options;
    const hasFailed = this.#failedMs !== null && Math.abs(now() - this.#failedMs) < RETRY_AFTER_MS;
    if (maxBytes === null || this.#isClosed || hasFailed || this.#passing !== null) return;
    if (this.#storedBytes < maxBytes / PASS_PARTS) return;
    void this.#pass({ mayGoOn: () => !this.#isClosed, isClockTrusted: false }).catch(onError);
  }
}
