import { expect } from "vitest";
import type { BlobStore, StorageRoles } from "../../core/src/contracts/blob-store.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { created, type ImageSite } from "../../core/test/image-site.ts";
import { createLifeSite } from "../../core/test/life-site.ts";

const OWNER = { authorize: () => ({ owner: "anna" }) };

export interface Divided {
  site: ImageSite;
  storage: StorageRoles;
  ids: string[];
}

/** A service with images whose originals have a store of their own. */
export async function divided(images: number): Promise<Divided> {
  const [records, bytes] = [createMemoryBlobStore(), createMemoryBlobStore()];
  const storage = { records, originals: bytes, renditions: bytes };
  const clock = { now: Date.now() };
  const site = createLifeSite({ ...OWNER, clock, storage: unclosed(storage) } as object);
  await site.images.ready();
  const ids: string[] = [];
  for (let index = 0; index < images; index++) ids.push(created(await site.create()).id);
  return { site, storage, ids };
}

/** Deletes the originals of these images. */
export async function lose(store: BlobStore, ids: readonly string[]): Promise<void> {
  for (const id of ids) expect(await store.delete(`${id}/original`)).toBe(true);
}

/** A service with images in one store. */
export async function stockedSite(images: number): Promise<{ site: ImageSite; ids: string[] }> {
  const site = createLifeSite({ ...OWNER, clock: { now: Date.now() } });
  const ids: string[] = [];
  for (let index = 0; index < images; index++) ids.push(created(await site.create()).id);
  return { site, ids };
}

export const statusOf = async (site: ImageSite, id: string) =>
  (await site.send("GET", `/api/images/${id}.png`)).status;

/** The stores for a service that closes them. */
export function unclosed({ records, originals, renditions }: StorageRoles): StorageRoles {
  const close = async () => {};
  return {
    records: { ...records, close },
    originals: { ...originals, close },
    renditions: { ...renditions, close },
  };
}
