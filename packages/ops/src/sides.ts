import { randomBytes } from "node:crypto";
import { ServiceError } from "@outrigger/core";
import { type StorageRoles, StoredImages } from "@outrigger/core/storage";
import type { BlobStore } from "@outrigger/core/stores";
import { readSmall } from "./blobs.ts";
import type { Job } from "./job.ts";
import type { StorageCopyOptions } from "./options.ts";
import { hasKeys } from "./walk.ts";

const PROBE = "migration/probe";
/** An ended image of a copy is remembered for as long as its service says: its sweep decides. */
const TOMBSTONE_DAYS = 30;

/** The images of both sides of a copy. */
export function openSides(
  { from, to }: Pick<StorageCopyOptions, "from" | "to">,
  tombstoneDays = TOMBSTONE_DAYS,
): { from: StoredImages; to: StoredImages } {
  const settings = { tombstoneDays, now: Date.now, onError: () => undefined, acceptsUnmarked: true };
  return { from: new StoredImages(from, settings), to: new StoredImages(to, settings) };
}

/** Whether the target has no key of an image service. */
export async function isEmptyTarget(job: Job): Promise<boolean> {
  for (const store of storesOf(job.to.stores)) if (await hasKeys(store, job)) return false;
  return true;
}

/** Checks that no store is on both sides: two addresses may lead to one store. */
export async function requireApart({ from, to, retry }: Job): Promise<void> {
  const probe = randomBytes(16);
  for (const store of storesOf(to.stores)) {
    await retry(() => store.put(PROBE, probe));
    try {
      for (const other of storesOf(from.stores)) {
        const found = await retry(() => readSmall(other, PROBE));
        if (found?.equals(probe)) throw refusal("the same store is on both sides");
      }
    } finally {
      await retry(() => store.delete(PROBE));
    }
  }
}

/** Rejects a source that would empty a filled target. */
export async function requireImages(job: Job, target: string): Promise<void> {
  if (await hasKeys(job.from.stores.records, job, "records")) return;
  throw refusal(`the source has no images, so this run would remove all images from the ${target}`);
}

function storesOf(stores: StorageRoles): Set<BlobStore> {
  return new Set(Object.values(stores));
}

export function refusal(reason: string): ServiceError {
  return new ServiceError("conflict", reason);
}
