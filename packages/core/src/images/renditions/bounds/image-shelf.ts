import { forEachAtOnce } from "../../../async/for-each-at-once.ts";
import { createInTurn } from "../../../async/in-turn.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { roleOf } from "../../record/image-record.ts";

/** Most blobs stored for one image: renditions, intermediates and failures. */
const MAX_ENTRIES = 256;
const LEAST_MAX_BYTES = 32 * 2 ** 20;
const TIMES_ORIGINAL = 10;
const STATS_AT_ONCE = 8;
/** The store is listed again after this time, to find blobs stored by other processes. */
const FRESH_MS = 10 * 60_000;

/** Limit for all stored renditions of an image together, in bytes. */
export function maxBytesOf(originalBytes: number): number {
  return Math.max(TIMES_ORIGINAL * originalBytes, LEAST_MAX_BYTES);
}

/** Eviction order: `first`, then `inTurn`, then `last`. Within a rank, the least recently used key is evicted first. */
export type Rank = "first" | "inTurn" | "last";
export type RankOf = (key: string) => Rank;

/** The stored renditions of one image, as this process knows them. Other processes may store and evict concurrently. */
export interface ImageShelf {
  /** Bytes stored or being stored. */
  bytes(): number;
  /** Marks a key as just used. */
  touch(key: string): void;
  /**
   * Reserves space for a blob that will be stored, and evicts others until all fit.
   * @returns `false`: there is no space. A blob that alone exceeds `maxBytes` evicts nothing.
   */
  makeRoom(key: string, bytes: number, maxBytes: number): Promise<boolean>;
  /** Ends a reservation after the write. @param isStored Whether the write succeeded. */
  settle(key: string, isStored: boolean): void;
}

export interface ImageShelfOptions {
  store: BlobStore;
  id: string;
  rankOf: RankOf;
  /** The time in Unix milliseconds. */
  now(): number;
}

/** Lists the stored blobs at the first write, again before each eviction, and every ten minutes while it stores. */
export function createImageShelf(options: ImageShelfOptions): ImageShelf {
  return new ListedShelf(options);
}

class ListedShelf implements ImageShelf {
  readonly #options: ImageShelfOptions;
  readonly #inTurn = createInTurn();
  /** Bytes by key, the least recently used first. */
  #sizes = new Map<string, number>();
  readonly #beingStored = new Set<string>();
  #loadedMs: number | null = null;

  constructor(options: ImageShelfOptions) {
    this.#options = options;
  }

  bytes(): number {
    return [...this.#sizes.values()].reduce((bytes, each) => bytes + each, 0);
  }

  touch(key: string): void {
    const bytes = this.#sizes.get(key);
    if (bytes === undefined) return;
    this.#sizes.delete(key);
    this.#sizes.set(key, bytes);
  }

  makeRoom(key: string, bytes: number, maxBytes: number): Promise<boolean> {
    return this.#inTurn(() => this.#reserve(key, bytes, maxBytes));
  }

  settle(key: string, isStored: boolean): void {
    this.#beingStored.delete(key);
    if (!isStored) this.#sizes.delete(key);
  }

  async #reserve(key: string, bytes: number, maxBytes: number): Promise<boolean> {
    if (bytes > maxBytes) return false;
    const loadedNow = this.#loadedMs === null || this.#options.now() - this.#loadedMs >= FRESH_MS;
    if (loadedNow) await this.#load();
    if (!this.#fits(key, bytes, maxBytes)) {
      if (!loadedNow) await this.#load();
      await this.#evictFor(key, bytes, maxBytes);
    }
    // Blobs being stored cannot be evicted, so space may still be missing.
    if (!this.#fits(key, bytes, maxBytes)) return false;
    this.#sizes.delete(key);
    this.#sizes.set(key, bytes);
    this.#beingStored.add(key);
    return true;
  }

  async #load(): Promise<void> {
    const { store, id, now } = this.#options;
    const unlisted = new Set(this.#beingStored);
    const stored = await measureImage(store, id, this.#sizes);
    // Blobs unused by this process count as older than those that it used.
    const ours = [...this.#sizes].filter(([key]) => stored.has(key) || unlisted.has(key));
    for (const [key] of ours) stored.delete(key);
    this.#sizes = new Map([...stored, ...ours]);
    this.#loadedMs = now();
  }

  #fits(key: string, bytes: number, maxBytes: number): boolean {
    const replaced = this.#sizes.get(key);
    const entries = this.#sizes.size + (replaced === undefined ? 1 : 0);
    return this.bytes() - (replaced ?? 0) + bytes <= maxBytes && entries <= MAX_ENTRIES;
  }

  async #evictFor(key: string, bytes: number, maxBytes: number): Promise<void> {
    for (const victim of this.#victimsFor(key, bytes, maxBytes)) {
      if (this.#fits(key, bytes, maxBytes)) return;
      await this.#options.store.delete(victim);
      this.#sizes.delete(victim);
    }
  }

  /** Keys that may be evicted for a new blob, in eviction order. */
  #victimsFor(key: string, bytes: number, maxBytes: number): string[] {
    const { rankOf } = this.#options;
    const others = [...this.#sizes.keys()].filter((each) => each !== key && !this.#beingStored.has(each));
    const ofRank = (rank: Rank) => others.filter((each) => rankOf(each) === rank);
    const last = ofRank("last");
    let lastBytes = last.reduce((sum, each) => sum + (this.#sizes.get(each) ?? 0), 0);
    if (rankOf(key) === "last") lastBytes += bytes;
    // The intermediates of many pages must leave room for renditions.
    const isTooMuch = (victim: string) => {
      if (lastBytes <= maxBytes / 2) return false;
      lastBytes -= this.#sizes.get(victim) ?? 0;
      return true;
    };
    return [...new Set([...ofRank("first"), ...last.filter(isTooMuch), ...ofRank("inTurn"), ...last])];
  }
}

/**
 * Sizes in bytes, by key, of all stored blobs derived from an image.
 * @param known Sizes already known; these need no `stat`.
 */
export async function measureImage(
  store: BlobStore,
  id: string,
  known: ReadonlyMap<string, number> = new Map(),
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  await forEachAtOnce(keysMadeFrom(store, id), STATS_AT_ONCE, async (key) => {
    const size = known.get(key) ?? (await store.stat(key))?.size;
    if (size !== undefined) sizes.set(key, size);
  });
  return sizes;
}

async function* keysMadeFrom(store: BlobStore, id: string): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const page = await store.list(`${id}/`, cursor === undefined ? {} : { cursor });
    yield* page.keys.filter((key) => roleOf(key) === "renditions");
    cursor = page.cursor;
  } while (cursor !== undefined);
}
