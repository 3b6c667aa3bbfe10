import { ServiceError } from "@outrigger/core";
import { bytesKeyOf, encodeRecord, type ImageRecord, keyOf } from "@outrigger/core/storage";
import { type Copied, copyBlob } from "./blobs.ts";
import type { Job } from "./job.ts";

/**
 * Copies the bytes of an image from the backup, unless the target has them.
 * @param verify Compares existing bytes instead of their size.
 * @returns what happened to them. `damaged`, `missing`: the backup does not have them as the record states.
 */
export async function bringBytes(job: Job, record: ImageRecord, verify: boolean): Promise<Copied["outcome"]> {
  const key = bytesKeyOf(record);
  if (key === null) return "unchanged";
  // If this process dies before the record is written, the sweep finds the bytes by this entry.
  const orphanedAt = await job.to.scheduleOrphan(record.id);
  const { outcome } = await copyBlob(job, "originals", key, { expected: record, verify });
  if (job.to.now() < orphanedAt) return outcome;
  throw new ServiceError(
    "store_unavailable",
    "the copy took more than 15 minutes, so the sweep may have removed it: run this again",
  );
}

/**
 * Revives an image that a repair of the target ended for want of bytes, once its bytes are there. Rejects with `conflict` if
 * another run was faster.
 * @param revision Of the record of the end.
 */
export async function storeRevived({ to }: Job, record: ImageRecord, revision: string): Promise<void> {
  await to.schedule(record);
  await to.storeCharged(record, () =>
    to.stores.records.put(keyOf.record(record.id), encodeRecord(record), { ifRevision: revision }),
  );
}
