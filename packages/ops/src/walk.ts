import type { StoreRole } from "@outrigger/core";
import { allPages, roleOf, type StorageRoles } from "@outrigger/core/storage";
import type { BlobStore, ListOptions } from "@outrigger/core/stores";
import type { Retry } from "./job.ts";

/** How the keys of a store are walked. */
export interface KeyWalk {
  retry: Retry;
  /** As for `list` of a store. @default the walk rejects once it has yielded all other keys */
  onUnreadable?: ListOptions["onUnreadable"];
}

/** The keys of one role in its store, in no particular order. */
export async function* keysOfRole(
  storage: StorageRoles,
  role: StoreRole,
  walk: KeyWalk,
): AsyncGenerator<string> {
  for await (const keys of pagesOf(storage[role], walk)) {
    yield* keys.filter((key) => roleOf(key) === role);
  }
}

/** Number of keys of each role. */
export async function countKeys(storage: StorageRoles, walk: KeyWalk): Promise<Record<StoreRole, number>> {
  const counts = { records: 0, originals: 0, renditions: 0 };
  for (const store of new Set(Object.values(storage))) {
    for await (const keys of pagesOf(store, walk)) {
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
  for await (const keys of pagesOf(store, walk)) {
    const roles = keys.map(roleOf);
    if (role === undefined ? roles.some((each) => each !== null) : roles.includes(role)) return true;
  }
  return false;
}

/** The keys below a prefix, by default all, page by page. */
export function pagesOf(
  store: BlobStore,
  { retry, onUnreadable }: KeyWalk,
  prefix = "",
): AsyncGenerator<string[]> {
  return allPages((options) => retry(() => store.list(prefix, options)), onUnreadable);
}
