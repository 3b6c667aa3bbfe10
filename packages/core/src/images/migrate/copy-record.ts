import { ServiceError } from "../../errors.ts";
import { nextLookAt } from "../record/image-life.ts";
import { type ImageRecord, idOfRecord, keyOf } from "../record/image-record.ts";
import { NewerVersion } from "../record/known-version.ts";
import { KEPT_MS as CLAIM_KEPT_MS, decodeClaim } from "../uploads/claims.ts";
import { digestIn } from "./blob-digest.ts";
import { type Copied, putSmall, readSmall } from "./copy-blob.ts";
import { AT_ONCE, copyPicture, NEWER, pictureOf, recordIn } from "./copy-picture.ts";
import { fromSource, type MigrationContext } from "./migration-context.ts";

/**
 * Copies what is in the records' store under a key: first when to look at it, and the bytes of an image that came after the
 * originals were copied, so that the target never has a record without them.
 */
export async function copyRecord(context: MigrationContext, key: string): Promise<Copied> {
  const { from, to, mode } = context;
  const bytes = await fromSource(() => readSmall(from.records, key));
  if (bytes === null) return { outcome: "missing" };
  const isImage = idOfRecord(key) !== null;
  if ((await readSmall(to.records, key))?.equals(bytes)) {
    const record = isImage && mode === "backup" ? recordIn(bytes) : null;
    if (record !== null && record !== NEWER) await bringPicture(context, key, bytes, record);
    return { outcome: "unchanged", digest: null };
  }
  const isWhole = isImage
    ? await prepareImage(context, key, bytes)
    : !key.startsWith("idempotency/") || (await prepareClaim(context, key, bytes));
  if (!isWhole && mode === "backup") return { outcome: "damaged", digest: digestIn(bytes) };
  await putSmall(context, key, bytes);
  return { outcome: "copied", digest: null };
}

/** @returns whether the bytes are a record. */
async function prepareImage(context: MigrationContext, key: string, bytes: Buffer): Promise<boolean> {
  const { from, due, damaged } = context;
  const record = recordIn(bytes);
  if (record === null) {
    damaged.set(key, "is no record of an image");
    return false;
  }
  if (record === NEWER) {
    const [id = ""] = key.split("/");
    await due.images.add({ id, dueMs: AT_ONCE });
    // Which of the two its record names is not known.
    for (const picture of [keyOf.original(id), keyOf.upload(id)]) {
      if ((await fromSource(() => from.originals.stat(picture))) !== null)
        await copyPicture(context, picture);
    }
    return true;
  }
  // Its tombstone's time is the service's to know: it looks once, and notes when to look again.
  await due.images.add({ id: record.id, dueMs: nextLookAt(record, 0) });
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
  if (now?.equals(bytes) !== true) throw new ServiceError("conflict", "is being changed at the source");
  damaged.set(picture, missing(record));
}

function missing({ size }: ImageRecord): string {
  return `is missing; its record says that there are ${size} bytes`;
}

/** @returns whether the bytes are a claim. */
async function prepareClaim(
  { due, damaged }: MigrationContext,
  key: string,
  bytes: Buffer,
): Promise<boolean> {
  const createdAt = timeOfClaim(bytes, key);
  if (createdAt === null) damaged.set(key, "is no claim of an idempotency key");
  else await due.claims.add({ id: key.slice("idempotency/".length), dueMs: createdAt + CLAIM_KEPT_MS });
  return createdAt !== null;
}

function timeOfClaim(bytes: Buffer, key: string): number | null {
  try {
    return decodeClaim(bytes, key).createdAt;
  } catch (error) {
    // Of a newer release's, only that it was made by now is known. Any other is reported by the caller.
    return error instanceof NewerVersion ? Date.now() : null;
  }
}
