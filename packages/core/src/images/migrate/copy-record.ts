import { ServiceError } from "../../errors.ts";
import { revivedRecord } from "../life/revived-record.ts";
import { addNextLook } from "../record/image-life.ts";
import { type ImageRecord, idOfRecord, keyOf } from "../record/image-record.ts";
import { NewerVersion } from "../record/known-version.ts";
import { KEPT_MS as CLAIM_KEPT_MS, decodeClaim } from "../uploads/claims.ts";
import { digestIn } from "./blob-digest.ts";
import { type Copied, putSmall, readSmall } from "./copy-blob.ts";
import { AT_ONCE, copyPicture, NEWER, pictureOf, recordIn } from "./copy-picture.ts";
import { fromSource, type MigrationContext } from "./migration-context.ts";

/**
 * Copies a key of the records' store. Before the record itself, it writes the due entries and copies bytes that were added
 * after the originals were copied, so the target never has a record without its bytes.
 */
export async function copyRecord(context: MigrationContext, key: string): Promise<Copied> {
  const { from, to, mode, isFresh } = context;
  const bytes = await fromSource(() => readSmall(from.records, key));
  if (bytes === null) return { outcome: "missing" };
  const isImage = idOfRecord(key) !== null;
  if (!isFresh && (await readSmall(to.records, key))?.equals(bytes)) {
    const record = isImage && mode === "backup" ? recordIn(bytes) : null;
    if (record !== null && record !== NEWER) await bringPicture(context, key, bytes, record);
    return { outcome: "unchanged", digest: null };
  }
  if (isImage && mode === "backup" && (await isLostThere(context, key, bytes))) {
    return { outcome: "unchanged", digest: null };
  }
  const isWhole = isImage
    ? await prepareImage(context, key, bytes)
    : !key.startsWith("idempotency/") || (await prepareClaim(context, key, bytes));
  if (!isWhole && mode === "backup") return { outcome: "damaged", digest: digestIn(bytes) };
  await putSmall(context, key, bytes);
  return { outcome: "copied", digest: null };
}

/** Whether a repair of the source ended the image for want of bytes, and the backup has a living copy. */
async function isLostThere({ to, damaged }: MigrationContext, key: string, bytes: Buffer): Promise<boolean> {
  const ended = recordIn(bytes);
  if (ended === null || ended === NEWER || ended.gone?.lost !== true) return false;
  const kept = await readSmall(to.records, key);
  const copy = kept === null ? null : recordIn(kept);
  if (copy === null || copy === NEWER || revivedRecord(ended, copy, Date.now()) === null) return false;
  damaged.set(key, "was ended by a repair of the source for want of bytes; the backup keeps its copy");
  return true;
}

/** @returns whether the bytes are a valid record. */
async function prepareImage(context: MigrationContext, key: string, bytes: Buffer): Promise<boolean> {
  const { from, due, damaged } = context;
  const record = recordIn(bytes);
  if (record === null) {
    damaged.set(key, "is not a valid record of an image");
    return false;
  }
  if (record === NEWER) {
    const [id = ""] = key.split("/");
    await due.images.add({ id, dueMs: AT_ONCE });
    // It is unknown which of the two its record names.
    for (const picture of [keyOf.original(id), keyOf.upload(id)]) {
      if ((await fromSource(() => from.originals.stat(picture))) !== null)
        await copyPicture(context, picture);
    }
    return true;
  }
  // Only the service knows how long tombstones are kept: its sweep checks the image once and sets the next due time.
  await addNextLook(due.images, record, 0);
  if (record.processing !== null) await due.jobs.add({ id: record.id, dueMs: record.createdAt });
  await bringPicture(context, key, bytes, record);
  return true;
}

/** Copies the bytes that a record names, unless the target has them. */
async function bringPicture(
  context: MigrationContext,
  key: string,
  bytes: Buffer,
  record: ImageRecord,
): Promise<void> {
  const { from, to, damaged } = context;
  const picture = pictureOf(record);
  if (picture === null || (await to.originals.stat(picture)) !== null) return;
  if ((await copyPicture(context, picture)).outcome !== "missing") return;
  const now = await fromSource(() => readSmall(from.records, key));
  if (now?.equals(bytes) !== true)
    throw new ServiceError("conflict", "it changed at the source during the copy");
  damaged.set(picture, missing(record));
}

function missing({ size }: ImageRecord): string {
  return `is missing; its record says ${size} bytes`;
}

/** @returns whether the bytes are a valid claim. */
async function prepareClaim(
  { due, damaged }: MigrationContext,
  key: string,
  bytes: Buffer,
): Promise<boolean> {
  const createdAt = timeOfClaim(bytes, key);
  if (createdAt === null) damaged.set(key, "is not a valid claim of an idempotency key");
  else await due.claims.add({ id: key.slice("idempotency/".length), dueMs: createdAt + CLAIM_KEPT_MS });
  return createdAt !== null;
}

function timeOfClaim(bytes: Buffer, key: string): number | null {
  try {
    return decodeClaim(bytes, key).createdAt;
  } catch (error) {
    // The time in a claim of a newer release is unknown: use the present. The caller reports an invalid claim.
    return error instanceof NewerVersion ? Date.now() : null;
  }
}
