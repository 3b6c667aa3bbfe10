import type { BlobStore } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { roleOf } from "../record/image-record.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import type { Retry } from "./create-retry.ts";

/** The keys of one role in its store, in no particular order. */
export async function* keysOfRole(
  storage: StorageRoles,
  role: StoreRole,
  retry: Retry,
): AsyncGenerator<string> {
  for await (const key of everyKey(storage[role], retry)) if (roleOf(key) === role) yield key;
}

/** Number of keys of each role. */
export async function countKeys(storage: StorageRoles, retry: Retry): Promise<Record<StoreRole, number>> {
  const counts = { records: 0, originals: 0, renditions: 0 };
  for (const store of new Set(Object.values(storage))) {
    for await (const key of everyKey(store, retry)) {
      const role = roleOf(key);
      // An earlier configuration may have left keys of another role here; they are not used.
      if (role !== null && storage[role] === store) counts[role]++;
    }
  }
  return counts;
}

/** Whether a store has no key of an image service. */
export async function isEmptyStore(store: BlobStore, retry: Retry): Promise<boolean> {
  for await (const key of everyKey(store, retry)) if (roleOf(key) !== null) return false;
  return true;
}

async function* everyKey(store: BlobStore, retry: Retry): AsyncGenerator<string> {
  let cursor: string | undefined;
  do {
    const at = cursor;
    const page = await retry(() => store.list("", at === undefined ? {} : { cursor: at }));
    yield* page.keys;
    cursor = page.cursor;
  } while (cursor !== undefined);
}
