import { type BlobStore, hasRangeListing, type KeyRange } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { roleOf } from "../record/image-record.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import type { Retry } from "./create-retry.ts";

/** How the keys of a store are walked. */
export interface KeyWalk {
  retry: Retry;
  /** Ranges of keys that are listed at once, where the store lists ranges. */
  concurrency: number;
  /**
   * Called with the number of keys of a page, and with the share of the walk that is listed. `null`: the store lists no ranges.
   * @default not called
   */
  onListed?(keys: number, share: number | null): void;
}

/** The keys of one role in its store, in no particular order. */
export async function* keysOfRole(
  storage: StorageRoles,
  role: StoreRole,
  walk: KeyWalk,
): AsyncGenerator<string> {
  for await (const { keys, share } of everyPage(storage[role], walk)) {
    const ours = keys.filter((key) => roleOf(key) === role);
    walk.onListed?.(ours.length, share);
    yield* ours;
  }
}

/** Number of keys of each role. */
export async function countKeys(storage: StorageRoles, walk: KeyWalk): Promise<Record<StoreRole, number>> {
  const counts = { records: 0, originals: 0, renditions: 0 };
  for (const store of new Set(Object.values(storage))) await countStore(storage, store, walk, counts);
  return counts;
}

async function countStore(
  storage: StorageRoles,
  store: BlobStore,
  walk: KeyWalk,
  counts: Record<StoreRole, number>,
): Promise<void> {
  for await (const { keys } of everyPage(store, walk)) countPage(storage, store, keys, counts);
}

function countPage(
  storage: StorageRoles,
  store: BlobStore,
  keys: readonly string[],
  counts: Record<StoreRole, number>,
): void {
  for (const key of keys) {
    const role = roleOf(key);
    // An earlier configuration may have left keys of another role here; they are not used.
    if (role !== null && storage[role] === store) counts[role]++;
  }
}

/** Pages of each store from which {@link estimateKeys} extrapolates. */
const SAMPLES = 4;
/** Least share of the keys that a sample stands for: many keys may begin alike. */
const MIN_SHARE = 1 / 4096;

/**
 * Estimates the number of keys of each role from a few pages: IDs are random, so the share of the IDs that a page covers is its
 * share of the keys. The number is exact where the pages hold all keys, or where the store lists no ranges.
 */
export async function estimateKeys(storage: StorageRoles, walk: KeyWalk): Promise<Record<StoreRole, number>> {
  const estimate = { records: 0, originals: 0, renditions: 0 };
  for (const store of new Set(Object.values(storage))) {
    const found = { records: 0, originals: 0, renditions: 0 };
    let share = 1;
    if (hasRangeListing(store)) {
      share = 0;
      for (const range of rangesOf(SAMPLES)) {
        const { keys, cursor } = await walk.retry(() => store.listRange(range));
        countPage(storage, store, keys, found);
        const end = cursor === undefined ? range.end : positionOf(keys.at(-1) ?? "");
        share += Math.max(MIN_SHARE, end - range.start);
      }
    } else await countStore(storage, store, walk, found);
    for (const role of ["records", "originals", "renditions"] as const) {
      estimate[role] += Math.round(found[role] / share);
    }
  }
  return estimate;
}

/** Whether a storage has a key of a role. */
export async function hasKeys(storage: StorageRoles, role: StoreRole, walk: KeyWalk): Promise<boolean> {
  for await (const _key of keysOfRole(storage, role, { ...walk, concurrency: 1 })) return true;
  return false;
}

/** Whether a store has no key of an image service. */
export async function isEmptyStore(store: BlobStore, walk: KeyWalk): Promise<boolean> {
  for await (const { keys } of everyPage(store, { ...walk, concurrency: 1 })) {
    if (keys.some((key) => roleOf(key) !== null)) return false;
  }
  return true;
}

interface WalkedPage {
  keys: string[];
  share: number | null;
}

async function* everyPage(
  store: BlobStore,
  { retry, concurrency }: Pick<KeyWalk, "retry" | "concurrency">,
): AsyncGenerator<WalkedPage> {
  if (hasRangeListing(store)) {
    yield* everyRange(concurrency, (range, at) => retry(() => store.listRange(range, at)));
    return;
  }
  let cursor: string | undefined;
  do {
    const at = cursor === undefined ? {} : { cursor };
    const page = await retry(() => store.list("", at));
    yield { keys: page.keys, share: null };
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** Lists several ranges at once, each one page ahead of the caller. */
async function* everyRange(
  count: number,
  list: (range: KeyRange, at: { cursor?: string }) => Promise<{ keys: string[]; cursor?: string }>,
): AsyncGenerator<WalkedPage> {
  const pages = new Map<RangeOfIds, Promise<{ range: RangeOfIds; keys: string[]; cursor?: string }>>();
  const positions = new Map<RangeOfIds, number>();
  const begin = (range: RangeOfIds, at: { cursor?: string }) => {
    const page = list(range, at).then((found) => ({ range, ...found }));
    // A failure rejects the walk when it comes to this page, or not at all if the walk has ended.
    page.catch(() => undefined);
    pages.set(range, page);
  };
  for (const range of rangesOf(count)) begin(range, {});
  while (pages.size > 0) {
    const { range, keys, cursor } = await Promise.race(pages.values());
    // Last in the order of the race, so that all ranges proceed.
    pages.delete(range);
    if (cursor !== undefined) begin(range, { cursor });
    const end = cursor === undefined ? range.end : positionOf(keys.at(-1) ?? "");
    positions.set(range, end - range.start);
    yield { keys, share: [...positions.values()].reduce((sum, each) => sum + each, 0) };
  }
}

/** The characters of IDs, in the order of their bytes. */
const DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/** A range of keys, with its place among all IDs: 0 is before the first ID, 1 beyond the last. */
interface RangeOfIds extends KeyRange {
  start: number;
  end: number;
}

/** Ranges that meet, hold all keys, and hold equally many IDs. */
function rangesOf(count: number): RangeOfIds[] {
  return Array.from({ length: count }, (_, at) => ({
    ...(at === 0 ? {} : { after: boundAt(at / count) }),
    ...(at === count - 1 ? {} : { upTo: boundAt((at + 1) / count) }),
    start: at / count,
    end: (at + 1) / count,
  }));
}

/** The two characters that begin the IDs at a position. */
function boundAt(position: number): string {
  const number = Math.floor(position * DIGITS.length ** 2);
  return DIGITS.charAt(Math.floor(number / DIGITS.length)) + DIGITS.charAt(number % DIGITS.length);
}

/** The position of a key among all IDs, from 0 to 1. */
function positionOf(key: string): number {
  let position = 0;
  for (let at = 0; at < 4; at++) {
    // Other characters come close to "-".
    position += Math.max(0, DIGITS.indexOf(key.charAt(at))) / DIGITS.length ** (at + 1);
  }
  return position;
}
