import { createMemoryBlobStore, type ImageStorage } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { openStorage } from "./open-storage.mjs";
import { type Servers, STORAGE_NAMES, type StorageName } from "./servers.ts";

export const PLACE_NAMES = ["memory", ...STORAGE_NAMES] as const;
export type PlaceName = (typeof PLACE_NAMES)[number];

/** A storage for images, shared by several services. */
export interface Place {
  /** The stores for one service, which closes them. */
  open(): ImageStorage;
  /** Names of everything stored there, in the file system's or server's terms, including files that no store lists. */
  names(): Promise<string[]>;
}

export function createPlace(servers: Servers, name: PlaceName): Place {
  return name === "memory" ? createMemoryPlace() : createServedPlace(servers, name);
}

function createServedPlace(servers: Servers, name: StorageName): Place {
  const storage = servers.createStorage(name);
  return { open: () => openStorage(storage), names: () => servers.namesIn(storage) };
}

/** Services of one process can share its memory, which stays when the first of them closes. */
function createMemoryPlace(): Place {
  const store = createMemoryBlobStore();
  return {
    open: () => ({ ...store, close: async () => {} }),
    names: () => listKeys(store, ""),
  };
}

/** Each of the stores once. */
export function storesOf(storage: ImageStorage): BlobStore[] {
  return "records" in storage ? [...new Set(Object.values(storage))] : [storage];
}

/** The keys that begin with `prefix`, in order, as the stores list them. */
export async function listKeys(storage: ImageStorage, prefix: string): Promise<string[]> {
  const found: string[] = [];
  for (const store of storesOf(storage)) {
    let cursor: string | undefined;
    do {
      const page = await store.list(prefix, cursor === undefined ? {} : { cursor });
      found.push(...page.keys);
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return found.sort();
}
