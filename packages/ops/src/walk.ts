import type { StoreRole } from "@outrigger/core";
import { allPages, roleOf, type StorageRoles, Unreadable } from "@outrigger/core/storage";
import { type BlobStore, hasRangeListing, type KeyRange, type ListOptions } from "@outrigger/core/stores";
import type { Retry } from "./job.ts";

/** How the keys of a store are walked. */
export interface KeyWalk {
  retry: Retry;
  /** Ranges of keys that are listed at once, where the store lists ranges. */
  concurrency: number;
  /** As for `list` of a store. @default the walk rejects once it has yielded all other keys */
  onUnreadable?: Unreadable["note"];
}

/** The keys of one role in its store, in no particular order. */
export async function* keysOfRole(
  storage: StorageRoles,
  role: StoreRole,
  walk: KeyWalk,
): AsyncGenerator<string> {
  for await (const keys of everyPage(storage[role], walk)) {
    yield* keys.filter((key) => roleOf(key) === role);
  }
}

/** Number of keys of each role. */
export async function countKeys(storage: StorageRoles, walk: KeyWalk): Promise<Record<StoreRole, number>> {
  const counts = { records: 0, originals: 0, renditions: 0 };
  for (const store of new Set(Object.values(storage))) {
    for await (const keys of everyPage(store, walk)) {
      for (const role of keys.map(roleOf)) {
        // An earlier configuration may have left keys of another role here; they are not used.
        if (role !== null && storage[role] === store) counts[role]++;
      }
    }
  }
  return counts;
}

/** Whether a store has a key of a role; without `role`, of any. */
export async function hasKeys(store: BlobStore, walk: KeyWalk, role?: StoreRole): Promise<boolean> {
  for await (const keys of everyPage(store, { ...walk, concurrency: 1 })) {
    const roles = keys.map(roleOf);
    if (role === undefined ? roles.some((each) => each !== null) : roles.includes(role)) return true;
  }
  return false;
}

async function* everyPage(store: BlobStore, walk: KeyWalk): AsyncGenerator<string[]> {
  if (!hasRangeListing(store)) return yield* pagesOf(store, walk, "");
  const unreadable = new Unreadable();
  const onUnreadable = walk.onUnreadable ?? unreadable.note;
  const list = (range: KeyRange, at: ListOptions) => store.listRange(range, { ...at, onUnreadable });
  yield* everyRange(walk.concurrency, (range, at) => walk.retry(() => list(range, at)));
  unreadable.throwAny();
}

/** The keys below a prefix, page by page. */
export function pagesOf(
  store: BlobStore,
  { retry, onUnreadable }: Omit<KeyWalk, "concurrency">,
  prefix: string,
): AsyncGenerator<string[]> {
  return allPages((options) => retry(() => store.list(prefix, options)), onUnreadable);
}

/** Lists several ranges at once, each one page ahead of the caller. */
async function* everyRange(
  count: number,
  list: (range: KeyRange, at: { cursor?: string }) => Promise<{ keys: string[]; cursor?: string }>,
): AsyncGenerator<string[]> {
  const pages = new Map<KeyRange, Promise<{ range: KeyRange; keys: string[]; cursor?: string }>>();
  const begin = (range: KeyRange, at: { cursor?: string }) => {
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
    yield keys;
  }
}

/** The characters of IDs, in the order of their bytes. */
const DIGITS = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/** Ranges that meet, hold all keys, and hold equally many IDs: these are random. */
function rangesOf(count: number): KeyRange[] {
  // Each bound is two characters.
  const bounds = Array.from({ length: count }, (_, at) => {
    const number = Math.floor((at / count) * DIGITS.length ** 2);
    return DIGITS.charAt(Math.floor(number / DIGITS.length)) + DIGITS.charAt(number % DIGITS.length);
  });
  return bounds.map((bound, at) => {
    const end = bounds[at + 1];
    return { ...(at === 0 ? {} : { after: bound }), ...(end === undefined ? {} : { upTo: end }) };
  });
}
