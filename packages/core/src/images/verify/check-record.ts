import { isServiceError } from "../../errors.ts";
import { digestOf } from "../migrate/blob-digest.ts";
import { pictureOf } from "../migrate/copy-picture.ts";
import { decodeUsage } from "../owners/usage-record.ts";
import { isOver } from "../record/image-life.ts";
import { type ImageRecord, idOfRecord } from "../record/image-record.ts";
import { readRecord } from "../record/image-records.ts";
import { decodeClaim } from "../uploads/claims.ts";
import { planRemoval } from "./removals.ts";
import { livingCopyOf, removeClaim, removeImage, repairUsage, restoreEntry, restoreImage } from "./repair.ts";
import { type ImageTrouble, suspect, type VerifyContext } from "./verify-context.ts";
import type { VerifyFinding } from "./verify-options.ts";

/** Checks one key of the records' store, and, for a record, the bytes of its image. */
export async function checkRecord(context: VerifyContext, key: string): Promise<void> {
  const id = idOfRecord(key);
  if (id !== null) return checkImage(context, key, id);
  if (key.startsWith("idempotency/")) return checkClaim(context, key);
}

async function checkImage(context: VerifyContext, key: string, id: string): Promise<void> {
  const suspicion = await suspect(context, key, (bytes) => troubleOf(context, id, bytes));
  context.report.images++;
  if (suspicion === null) return;
  const { what, detail, record } = suspicion.trouble;
  if (what === "missing-entry" && record !== null) {
    const repair = context.isRepair ? await restoreEntry(context, record) : null;
    return context.found({ id, key, what, detail, repair });
  }
  const isForUs = context.isRepair && what !== "newer";
  const repair = isForUs ? await restoreImage(context, id, suspicion) : null;
  const finding: VerifyFinding = { id, key, what, detail, repair };
  if (repair === null && what !== "newer") planRemoval(context, finding);
  else context.found(finding);
}

/** Ends the image of a planned removal, unless it is whole or has ended by now. */
export async function removeDamaged(context: VerifyContext, finding: VerifyFinding): Promise<void> {
  const { key } = finding;
  const [id = ""] = key.split("/");
  const suspicion = await suspect(context, key, (bytes) => troubleOf(context, id, bytes));
  const isDamaged = suspicion !== null && !["newer", "missing-entry"].includes(suspicion.trouble.what);
  if (!isDamaged) return;
  context.found({ ...finding, repair: await removeImage(context, id, suspicion) });
}

async function troubleOf(context: VerifyContext, id: string, bytes: Buffer): Promise<ImageTrouble | null> {
  let record: ImageRecord;
  try {
    record = readRecord(bytes, id);
  } catch (error) {
    if (isServiceError(error, "damaged"))
      return { what: "damaged-record", detail: error.message, record: null };
    if (isServiceError(error, "store_unavailable"))
      return { what: "newer", detail: error.message, record: null };
    throw error;
  }
  if (context.isRepair && (await livingCopyOf(context, record)) !== null) {
    return { what: "missing-original", detail: "a repair ended it for want of bytes", record };
  }
  const picture = isOver(record, context.now()) ? null : pictureOf(record);
  // The substitute for a damaged record describes no bytes. Only a withheld image has one.
  if (picture === null || record.damaged === true) return null;
  const { originals } = context.stores;
  const { size, sha256 } = record;
  const what = picture.endsWith("/upload") ? "upload" : "original";
  const missing: ImageTrouble = {
    what: "missing-original",
    detail: `the ${what} is missing, expected ${size} bytes`,
    record,
  };
  const info = await originals.stat(picture);
  if (info === null) return missing;
  if (info.size !== size) {
    const detail = `the ${what} has ${info.size} bytes, expected ${size}`;
    return { what: "wrong-size", detail, record };
  }
  const digest = await digestOf(originals, picture, context.pace);
  if (digest === null) return missing;
  if (digest.sha256 === sha256) return entryTroubleOf(context, record);
  const detail = `the ${what} has the SHA-256 ${digest.sha256}, expected ${sha256}`;
  return { what: "wrong-digest", detail, record };
}

/** An image that was stored by an earlier release has no entry before `reindex`. */
async function entryTroubleOf(
  { life, stores }: VerifyContext,
  record: ImageRecord,
): Promise<ImageTrouble | null> {
  if (record.owner === null) return null;
  const key = life.owned.keyOf(record.owner.name, record);
  if ((await stores.records.stat(key)) !== null) return null;
  return { what: "missing-entry", detail: "the index of its owner's images lacks it", record };
}

/** Checks the usage of an owner. */
export async function checkUsage(context: VerifyContext, key: string): Promise<void> {
  const detail = await whyDamaged(context, key, (bytes) => decodeUsage(bytes, key));
  if (detail === null) return;
  const repair = context.isRepair ? await repairUsage(context, key) : null;
  context.found({ id: null, key, what: "damaged-usage", detail, repair });
}

async function checkClaim(context: VerifyContext, key: string): Promise<void> {
  const detail = await whyDamaged(context, key, (bytes) => decodeClaim(bytes, key));
  if (detail === null) return;
  const repair = context.isRepair ? await removeClaim(context, key) : null;
  context.found({ id: null, key, what: "damaged-claim", detail, repair });
}

async function whyDamaged(
  context: VerifyContext,
  key: string,
  decode: (bytes: Buffer) => unknown,
): Promise<string | null> {
  const suspicion = await suspect(context, key, async (bytes) => {
    try {
      decode(bytes);
      return null;
    } catch (error) {
      if (isServiceError(error, "damaged")) return error.message;
      // Written by a newer version, so this version cannot check it.
      if (isServiceError(error, "store_unavailable")) return null;
      throw error;
    }
  });
  return suspicion?.trouble ?? null;
}
