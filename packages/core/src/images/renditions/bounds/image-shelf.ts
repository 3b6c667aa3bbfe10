import { forEachAtOnce } from "../../../async/for-each-at-once.ts";
import { createInTurn } from "../../../async/in-turn.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { roleOf } from "../../record/image-record.ts";

/** Stored renditions, intermediates and failures of an image. */
const MAX_ENTRIES = 256;
const LEAST_MAX_BYTES = 32 * 2 ** 20;
const TIMES_ORIGINAL = 10;
const STATS_AT_ONCE = 8;
/** Blobs that other processes store are found within this time after the last listing. */
const FRESH_MS = 10 * 60_000;

/** Bytes that the stored renditions of an image may have together. */
export function maxBytesOf(originalBytes: number): number {
  return Math.max(TIMES_ORIGINAL * originalBytes, LEAST_MAX_BYTES);
}

/** When a key is evicted: `first`, in its turn, or `last`. Of the same rank, the least recently used goes first. */
export type Rank = "first" | "inTurn" | "last";
export type RankOf = (key: string) => Rank;

/** The stored renditions of one image, as this process knows them. Other processes may store and evict concurrently. */
export interface ImageShelf {
  /** Bytes that are stored or being stored. */
  bytes(): number;
  /** The key was used just now. */
  touch(key: string): void;
  /**
   * Notes a blob that is about to be stored, and evicts others until all of them together fit.
   * @returns `false`: the blob alone exceeds `maxBytes`, and nothing is evicted.
   */
  makeRoom(key: string, bytes: number, maxBytes: number): Promise<boolean>;
  /** The write has ended. @param isStored whether the blob is there. */
  settle(key: string, isStored: boolean): void;
}

export interface ImageShelfOptions {
  store: BlobStore;
  id: string;
  rankOf: RankOf;
  /** The time in Unix milliseconds. */
  now(): number;
}

/** Lists the stored blobs at the first write, again before it evicts, and every ten minutes of writes. */
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
    // Blobs being stored cannot be evicted: there is no room while they fill the shelf.
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
    // Blobs that this process has not used count as older than those that it has.
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

  /** Keys that may be evicted for a new blob, in this order. */
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
 * The bytes of all stored blobs that were made from an image, by key.
 * @param known Sizes that need no `stat`.
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
