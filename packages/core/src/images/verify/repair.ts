import { isServiceError, ServiceError } from "../../errors.ts";
import { loadAny, remainsOf } from "../life/damaged-image.ts";
import { markDeleted } from "../life/mark-deleted.ts";
import { revivedRecord } from "../life/revived-record.ts";
import { sweepEntry } from "../life/sweep-entry.ts";
import { type Digest, digestOf, isSame } from "../migrate/blob-digest.ts";
import { readSmall } from "../migrate/copy-blob.ts";
import { NEWER, pictureOf, recordIn } from "../migrate/copy-picture.ts";
import { addNextLook, isOver } from "../record/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { encodeRecord } from "../record/record-codec.ts";
import { removeMade } from "../renditions/remove-stored.ts";
import { storeReserved } from "../uploads/reserve-image.ts";
import type { ImageTrouble, Suspicion, VerifyContext } from "./verify-context.ts";
import type { VerifyFinding } from "./verify-options.ts";

type Repair = VerifyFinding["repair"];

/** Restores an image from the backup if that has an intact copy of its current state; else returns `null`. */
export async function restoreImage(
  context: VerifyContext,
  id: string,
  { trouble: { record }, blob: { bytes, revision } }: Suspicion<ImageTrouble>,
): Promise<Repair> {
  return outcomeOf(context, async () => {
    if (record?.gone) return await revive(context, record, revision);
    const isRestored =
      record === null
        ? await restoreRecord(context, await recordToRestore(context, id, bytes), revision)
        : await restoreBytes(context, record);
    return isRestored ? "restored" : null;
  });
}

/** Ends an image like a deletion: 410, and the bytes are removed. */
export async function removeImage(
  context: VerifyContext,
  id: string,
  { trouble: { record }, blob: { revision } }: Suspicion<ImageTrouble>,
): Promise<Repair> {
  return outcomeOf(context, () => remove(context, id, revision, record !== null));
}

/** Restores the record of orphaned bytes from the backup; else returns `null`. */
export async function restoreOrphan(context: VerifyContext, id: string, key: string): Promise<Repair> {
  return outcomeOf(context, async () => {
    const record = await livingInBackup(context, id);
    const isIts = record !== null && pictureOf(record) === key && (await isWhole(context, record));
    return isIts && (await restoreRecord(context, record, null)) ? "restored" : null;
  });
}

/** The record that an image gets which a repair ended for want of bytes, if the backup has these; else `null`. */
export async function livingCopyOf(context: VerifyContext, ended: ImageRecord): Promise<ImageRecord | null> {
  const copy = ended.gone?.lost === true ? await livingInBackup(context, ended.id) : null;
  const picture = copy === null ? null : pictureOf(copy);
  const record = copy === null ? null : revivedRecord(ended, copy, context.now());
  if (record === null || picture === null) return null;
  return (await context.backup?.originals.stat(picture))?.size === record.size ? record : null;
}

async function revive(context: VerifyContext, ended: ImageRecord, revision: string): Promise<Repair> {
  const record = await livingCopyOf(context, ended);
  if (record === null) return "failed";
  const isRestored = await storeReserved(context.life, record, () =>
    restoreRecord(context, record, revision),
  );
  return isRestored ? "restored" : "failed";
}

export async function removeOrphan(
  context: VerifyContext,
  role: "originals" | "renditions",
  key: string,
): Promise<Repair> {
  return outcomeOf(context, async () => {
    await context.stores[role].delete(key);
    return "removed";
  });
}

/** Removes an unreadable claim, which protects nothing. */
export async function removeClaim(context: VerifyContext, key: string): Promise<Repair> {
  return outcomeOf(context, async () => {
    await context.stores.records.delete(key);
    return "removed";
  });
}

/** Lists an image again in the index of its owner's images. */
export async function restoreEntry(context: VerifyContext, record: ImageRecord): Promise<Repair> {
  return outcomeOf(context, async () => {
    await context.life.addOwned(record);
    return "restored";
  });
}

export async function repairUsage({ life, ...context }: VerifyContext, key: string): Promise<Repair> {
  return outcomeOf({ life, ...context }, async () => {
    await life.owners.repair(key);
    return "counted";
  });
}

/** Runs a repair. A failure, such as a concurrent change of the image, is reported and does not stop other repairs. */
async function outcomeOf({ life }: VerifyContext, work: () => Promise<Repair>): Promise<Repair> {
  try {
    return await work();
  } catch (error) {
    life.settings.onError(error);
    return "failed";
  }
}

/** @param isLost Whether only bytes are missing or damaged, so that a backup can revive the image. */
async function remove(
  { life }: VerifyContext,
  id: string,
  revision: string,
  isLost: boolean,
): Promise<Repair> {
  const current = await loadAny(life, id);
  if (current?.revision !== revision) {
    throw new ServiceError(
      "conflict",
      `Image ${id} was changed while it was verified. Run the verification again`,
    );
  }
  const { entry } = await markDeleted(life, current, isLost);
  // If this fails, the sweep does it later.
  await sweepEntry(life, entry).catch(life.settings.onError);
  return "removed";
}

/** The record of a living image in the backup; `null`: there is none. */
async function livingInBackup({ backup, now }: VerifyContext, id: string): Promise<ImageRecord | null> {
  const bytes = backup === null ? null : await readSmall(backup.records, keyOf.record(id));
  const record = bytes === null ? null : recordIn(bytes);
  if (record === null || record === NEWER || record.id !== id || record.damaged === true) return null;
  return isOver(record, now()) ? null : record;
}

/** The record that may replace a damaged one without reverting a deletion or a takedown; `null`: none may. */
async function recordToRestore(
  context: VerifyContext,
  id: string,
  bytes: Buffer,
): Promise<ImageRecord | null> {
  const { originals } = context.stores;
  const { hadEnded, wasWithheld, withheld } = remainsOf(bytes);
  if (hadEnded || (wasWithheld && withheld === null)) return null;
  const looks = [keyOf.original(id), keyOf.upload(id)].map((key) => originals.stat(key));
  // A deleted image has no bytes.
  if ((await Promise.all(looks)).every((info) => info === null)) return null;
  const record = await livingInBackup(context, id);
  return record && { ...record, withheld: withheld ?? record.withheld };
}

/** @param revision Revision of the stored record; `null`: there is none. */
async function restoreRecord(
  context: VerifyContext,
  record: ImageRecord | null,
  revision: string | null,
): Promise<boolean> {
  if (record === null) return false;
  const { life, jobs, stores } = context;
  const { id, processing, createdAt } = record;
  if (!(await isWhole(context, record)) && !(await copyBytes(context, record))) return false;
  await addNextLook(life.due, record, life.settings.tombstoneMs);
  if (processing !== null) await jobs.add({ id, dueMs: createdAt });
  try {
    await stores.records.put(keyOf.record(id), encodeRecord(record), { ifRevision: revision });
  } catch (error) {
    await removeUnlessAlive(context, id);
    throw error;
  }
  return true;
}

/** Whether the bytes of a record are stored, with its size and digest. */
async function isWhole(context: VerifyContext, record: ImageRecord): Promise<boolean> {
  const picture = pictureOf(record);
  return picture !== null && isSame(record, await digestOf(context.stores.originals, picture, context.pace));
}

async function restoreBytes(context: VerifyContext, record: ImageRecord): Promise<boolean> {
  if (!(await copyBytes(context, record))) return false;
  await removeUnlessAlive(context, record.id);
  return true;
}

/** Copies the bytes of a record from the backup, if they are intact there. Removes renditions made from damaged bytes. */
async function copyBytes(context: VerifyContext, record: ImageRecord): Promise<boolean> {
  const { backup, stores, pace } = context;
  const picture = pictureOf(record);
  if (backup === null || picture === null) return false;
  if (!isSame(record, await digestOf(backup.originals, picture, pace))) return false;
  const seen = await stores.originals.stat(picture);
  const copy = await backup.originals.get(picture);
  if (copy === null) return false;
  await stores.originals.put(picture, copy.body, { ifRevision: seen?.revision ?? null });
  const arrived: Digest | null = await digestOf(stores.originals, picture, pace);
  if (!isSame(record, arrived)) {
    throw new ServiceError(
      "store_unavailable",
      `The content that the storage returns for ${picture} is not what was sent`,
    );
  }
  await removeMade(stores.renditions, record.id);
  await stores.records.delete(keyOf.notes(record.id));
  return true;
}

/** Removes the restored bytes if the image ended meanwhile. */
async function removeUnlessAlive({ life, now }: VerifyContext, id: string): Promise<void> {
  try {
    const current = await life.records.load(id);
    if (current !== null && !isOver(current.record, now())) return;
  } catch (error) {
    if (isServiceError(error, "damaged")) return;
    throw error;
  }
  await life.removeBytes(id);
}
