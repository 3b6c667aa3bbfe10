import type { BlobStore } from "../../contracts/blob-store.ts";

/** The store of each role. */
export interface StorageRoles {
  records: BlobStore;
  originals: BlobStore;
  renditions: BlobStore;
}

/** One store for everything, or one per role. */
export type ImageStorage = BlobStore | StorageRoles;

export function rolesOf(storage: ImageStorage): StorageRoles {
  return "records" in storage ? storage : { records: storage, originals: storage, renditions: storage };
}

export async function closeStores(roles: StorageRoles): Promise<void> {
  for (const store of new Set(Object.values(roles))) await store.close();
}
