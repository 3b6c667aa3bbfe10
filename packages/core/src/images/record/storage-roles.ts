import type { ImageStorage, StorageRoles } from "../../contracts/blob-store.ts";

export function rolesOf(storage: ImageStorage): StorageRoles {
  return "records" in storage ? storage : { records: storage, originals: storage, renditions: storage };
}

export async function closeStores(roles: StorageRoles): Promise<void> {
  for (const store of new Set(Object.values(roles))) await store.close();
}
