import { forEachAtOnce } from "../../../async/for-each-at-once.ts";
import type { BlobStore } from "../../../contracts/blob-store.ts";
import { roleOf } from "../../record/image-record.ts";

/** Stored renditions, intermediates and remembered failures of an image. */
const MAX_ENTRIES = 256;
const LEAST_MAX_BYTES = 32 * 2 ** 20;
const TIMES_ORIGINAL = 10;
const STATS_AT_ONCE = 8;
/** What other processes store is found at the latest this long after it is known what is stored. */
const FRESH_MS = 10 * 60_000;

/** Bytes that the stored renditions of an image may have together. */
export function maxBytesOf(originalBytes: number): number {
  return Math.max(TIMES_ORIGINAL * originalBytes, LEAST_MAX_BYTES);
}

/** When a key is evicted: `first`, in its turn, or `last`. Of the same rank, the least recently used goes first. */
export type Rank = "first" | "inTurn" | "last";
export type RankOf = (key: string) => Rank;

/** What this process knows of the stored renditions of one image. Other processes may store and evict at the same time. */
export interface ImageShelf {
  /** Bytes of what is stored, and of what is being stored. */
  bytes(): number;
  /** The key was used just now. */
  touch(key: string): void;
  /**
   * Notes a blob that is about to be stored, and evicts others until all of them together fit.
   * @returns `false` where it is larger than all may be together; nothing is evicted then.
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

/** What is stored is listed at the first write, again before anything is evicted, and every ten minutes of writes. */
export function createImageShelf({ store, id, rankOf, now }: ImageShelfOptions): ImageShelf {
  /** Bytes by key, the least recently used first. */
  let sizes = new Map<string, number>();
  const beingStored = new Set<string>();
  let loadedMs: number | null = null;
  let turn: Promise<unknown> = Promise.resolve();

  const sum = () => [...sizes.values()].reduce((bytes, each) => bytes + each, 0);

  async function load(): Promise<void> {
    const unlisted = new Set(beingStored);
    const stored = await measureImage(store, id, sizes);
    // What this process has not used is older than what it has.
    const ours = [...sizes].filter(([key]) => stored.has(key) || unlisted.has(key));
    for (const [key] of ours) stored.delete(key);
    sizes = new Map([...stored, ...ours]);
    loadedMs = now();
  }

  /** What may be evicted for a new blob, in this order. */
  function victimsFor(key: string, bytes: number, maxBytes: number): string[] {
    const others = [...sizes.keys()].filter((each) => each !== key && !beingStored.has(each));
    const ofRank = (rank: Rank) => others.filter((each) => rankOf(each) === rank);
    const last = ofRank("last");
    let lastBytes = last.reduce((sum, each) => sum + (sizes.get(each) ?? 0), 0);
    if (rankOf(key) === "last") lastBytes += bytes;
    // The intermediates of many pages must not take the room of all renditions.
    const isTooMuch = (victim: string) => {
      if (lastBytes <= maxBytes / 2) return false;
      lastBytes -= sizes.get(victim) ?? 0;
      return true;
    };
    return [...new Set([...ofRank("first"), ...last.filter(isTooMuch), ...ofRank("inTurn"), ...last])];
  }

  async function evictFor(key: string, bytes: number, maxBytes: number): Promise<void> {
    for (const victim of victimsFor(key, bytes, maxBytes)) {
      if (fits(key, bytes, maxBytes)) return;
      await store.delete(victim);
      sizes.delete(victim);
    }
  }

  function fits(key: string, bytes: number, maxBytes: number): boolean {
    const isNew = !sizes.has(key);
    return sum() - (sizes.get(key) ?? 0) + bytes <= maxBytes && sizes.size + (isNew ? 1 : 0) <= MAX_ENTRIES;
  }

  async function makeRoom(key: string, bytes: number, maxBytes: number): Promise<boolean> {
    if (bytes > maxBytes) return false;
    const loadedNow = loadedMs === null || now() - loadedMs >= FRESH_MS;
    if (loadedNow) await load();
    if (!fits(key, bytes, maxBytes)) {
      if (!loadedNow) await load();
      await evictFor(key, bytes, maxBytes);
    }
    // What is being stored cannot be evicted: then this one has no room.
    if (!fits(key, bytes, maxBytes)) return false;
    sizes.delete(key);
    sizes.set(key, bytes);
    beingStored.add(key);
    return true;
  }

  return {
    bytes: sum,
    touch(key) {
      const bytes = sizes.get(key);
      if (bytes === undefined) return;
      sizes.delete(key);
      sizes.set(key, bytes);
    },
    makeRoom(key, bytes, maxBytes) {
      const work = turn.then(() => makeRoom(key, bytes, maxBytes));
      turn = work.catch(() => undefined); // Its caller has the failure.
      return work;
    },
    settle(key, isStored) {
      beingStored.delete(key);
      if (!isStored) sizes.delete(key);
    },
  };
}

/**
 * The bytes of all that is stored of what was made from an image, by key.
 * @param known sizes that are not asked for.
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
