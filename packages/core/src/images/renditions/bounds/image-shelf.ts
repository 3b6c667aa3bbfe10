import { forEachAtOnce } from "../../../async/for-each-at-once.ts";
import { createInTurn } from "../../../async/in-turn.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { roleOf } from "../../record/image-record.ts";
import type { NotedImage, RenditionNotes } from "../rendition-notes.ts";

/** Most blobs stored for one image: renditions and intermediates. */
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
  /** Ends a reservation after the write. @param isStored Whether the write succeeded. It is then noted for all processes. */
  settle(key: string, isStored: boolean): Promise<void>;
  /** Forgets a blob that was removed. */
  forget(key: string): void;
}

export interface ImageShelfOptions {
  store: BlobStore;
  notes: RenditionNotes;
  image: NotedImage;
  rankOf: RankOf;
  /** The time in Unix milliseconds. */
  now(): number;
}

/**
 * Knows the stored blobs from the notes. If these do not say, it lists the store: at the first write, again before each eviction,
 * and every ten minutes while it stores.
 */
export function createImageShelf(options: ImageShelfOptions): ImageShelf {
  return new SharedShelf(options);
}

class SharedShelf implements ImageShelf {
  readonly #options: ImageShelfOptions;
  readonly #inTurn = createInTurn();
  /** Bytes by key, the least recently used first. */
  #sizes = new Map<string, number>();
  /** Keys that this process stored or served. */
  readonly #used = new Set<string>();
  readonly #beingStored = new Set<string>();
  #listedMs: number | null = null;

  constructor(options: ImageShelfOptions) {
    this.#options = options;
  }

  bytes(): number {
    return [...this.#sizes.values()].reduce((bytes, each) => bytes + each, 0);
  }

  touch(key: string): void {
    const bytes = this.#sizes.get(key);
    if (bytes !== undefined) this.#use(key, bytes);
  }

  #use(key: string, bytes: number): void {
    this.#sizes.delete(key);
    this.#sizes.set(key, bytes);
    this.#used.add(key);
  }

  makeRoom(key: string, bytes: number, maxBytes: number): Promise<boolean> {
    return this.#inTurn(() => this.#reserve(key, bytes, maxBytes));
  }

  async settle(key: string, isStored: boolean): Promise<void> {
    if (!isStored) this.#sizes.delete(key);
    try {
      if (isStored) await this.#note([key], []);
    } finally {
      this.#beingStored.delete(key);
    }
  }

  forget(key: string): void {
    this.#sizes.delete(key);
  }

  async #reserve(key: string, bytes: number, maxBytes: number): Promise<boolean> {
    if (bytes > maxBytes) return false;
    const { now } = this.#options;
    const isNoted = await this.#readNotes("latest");
    const isListed = !isNoted && (this.#listedMs === null || now() - this.#listedMs >= FRESH_MS);
    if (isListed) await this.#list();
    if (!this.#fits(key, bytes, maxBytes)) {
      if (!isListed && !(await this.#readNotes("read"))) await this.#list();
      await this.#evictFor(key, bytes, maxBytes);
    }
    // Blobs being stored cannot be evicted, so space may still be missing.
    if (!this.#fits(key, bytes, maxBytes)) return false;
    this.#use(key, bytes);
    this.#beingStored.add(key);
    return true;
  }

  /** @returns whether the notes name what is stored. */
  async #readNotes(how: "read" | "latest"): Promise<boolean> {
    const { notes, image } = this.#options;
    if (!notes.areStoredNoted) return false;
    const unlisted = new Set(this.#beingStored);
    const { stored } = await notes[how](image);
    if (stored !== null) this.#update(stored, unlisted);
    return stored !== null;
  }

  async #list(): Promise<void> {
    const { store, image, now } = this.#options;
    const unlisted = new Set(this.#beingStored);
    this.#update(await measureImage(store, image.id, this.#sizes), unlisted);
    this.#listedMs = now();
  }

  /** @param unlisted Blobs that were being stored before `stored` was read. */
  #update(stored: ReadonlyMap<string, number>, unlisted: ReadonlySet<string>): void {
    // Blobs unused by this process count as older than those that it used.
    const ours = [...this.#sizes].filter(
      ([key]) => unlisted.has(key) || (this.#used.has(key) && stored.has(key)),
    );
    const others = new Map(stored);
    for (const [key] of ours) others.delete(key);
    this.#sizes = new Map([...others, ...ours]);
  }

  /** Notes changes for all processes. The first note of an image that was listed names everything found. */
  async #note(added: readonly string[], removed: readonly string[]): Promise<void> {
    const { notes, image } = this.#options;
    if (!notes.areStoredNoted) return;
    await notes.change(image, ({ stored, failures }) => {
      const noted = new Map(stored ?? [...this.#sizes].filter(([key]) => !this.#beingStored.has(key)));
      for (const key of removed) noted.delete(key);
      for (const key of added) noted.set(key, this.#sizes.get(key) ?? 0);
      return { stored: noted, failures };
    });
  }

  #fits(key: string, bytes: number, maxBytes: number): boolean {
    const replaced = this.#sizes.get(key);
    const entries = this.#sizes.size + (replaced === undefined ? 1 : 0);
    return this.bytes() - (replaced ?? 0) + bytes <= maxBytes && entries <= MAX_ENTRIES;
  }

  async #evictFor(key: string, bytes: number, maxBytes: number): Promise<void> {
    const evicted: string[] = [];
    for (const victim of this.#victimsFor(key, bytes, maxBytes)) {
      if (this.#fits(key, bytes, maxBytes)) break;
      await this.#options.store.delete(victim);
      this.#sizes.delete(victim);
      evicted.push(victim);
    }
    if (evicted.length > 0) await this.#note([], evicted);
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
