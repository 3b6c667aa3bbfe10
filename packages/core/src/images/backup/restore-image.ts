import { ServiceError } from "../../errors.ts";
import { endedRecord } from "../life/change-record.ts";
import type { LifeContext } from "../life/life-context.ts";
import { revivedRecord } from "../life/revived-record.ts";
import { copyBlob, putSmall, readSmall } from "../migrate/copy-blob.ts";
import { type FoundRecord, NEWER, pictureOf, recordIn } from "../migrate/copy-picture.ts";
import { fromSource, type MigrationContext } from "../migrate/migration-context.ts";
import { addNextLook, dueEnd, hasEnded, nextLookAt } from "../record/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { encodeRecord } from "../record/record-codec.ts";
import { removeStored } from "../renditions/remove-stored.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import { storeReserved } from "../uploads/reserve-image.ts";
import type { KnownEnds } from "./end-lists.ts";

export interface RestoreContext {
  migration: MigrationContext;
  life: LifeContext;
  ends: KnownEnds;
  /** Whether the target had images before the first run. They are then left unchanged. */
  isLiving: boolean;
  /** Whether images missing from the target are restored. */
  mayAdd: boolean;
}

/** The result for an image. `over`: its end need not be remembered any more. `damaged`: noted in the report. */
export type Restored = "restored" | "kept" | "ended" | "absent" | "over" | "damaged";

/** Restores one image, or the record of its end. Idempotent. */
export async function restoreImage(context: RestoreContext, id: string): Promise<Restored> {
  const { migration, life, isLiving, mayAdd } = context;
  const { from, to, due, damaged } = migration;
  const { now, tombstoneMs } = life.settings;
  const key = keyOf.record(id);
  const bytes = await fromSource(() => readSmall(from.records, key));
  const copy = bytes === null ? null : recordIn(bytes);
  if (copy === null || copy === NEWER) {
    damaged.set(key, copy === null ? "is not a valid record of an image" : "was written by a newer release");
    return "damaged";
  }
  const there = await readSmall(to.records, key);
  if (there !== null && isLiving) {
    const found = recordIn(there);
    const revived =
      found === null || found === NEWER ? null : revivedRecord(found, settled(context, copy), now());
    return revived === null ? restoreBytes(context, found, copy) : revive(context, revived);
  }
  const record = settled(context, copy);
  const wanted = record === copy && bytes !== null ? bytes : encodeRecord(record);
  if (!hasEnded(record)) {
    if (isLiving && !mayAdd) return "absent";
    if (!(await bringBytes(context, record))) return "damaged";
    await addNextLook(due.images, record, 0);
    if (record.processing !== null) await due.jobs.add({ id, dueMs: record.createdAt });
    if (there?.equals(wanted)) return "kept";
    await storeReserved(life, record, () => putRecord(context, key, wanted).then(() => true));
    return "restored";
  }
  if (nextLookAt(record, tombstoneMs) <= now()) return "over";
  await addNextLook(due.images, record, 0);
  if (!there?.equals(wanted)) await putRecord(context, key, wanted);
  // An earlier run, without this end, restored the image.
  if (there !== null) await removeStored(to, id);
  return "ended";
}

/** Restores an image that a repair of the target ended for want of bytes. */
async function revive(context: RestoreContext, record: ImageRecord): Promise<Restored> {
  const { migration, life } = context;
  const { records } = migration.to;
  const key = keyOf.record(record.id);
  const ended = await records.stat(key);
  if (!(await bringBytes(context, record))) return "damaged";
  const { id, processing } = record;
  await addNextLook(migration.due.images, record, 0);
  if (processing !== null) await migration.due.jobs.add({ id, dueMs: record.createdAt });
  // Its end was the last change: a conflict means that another restore was faster.
  const options = { ifRevision: ended?.revision ?? null };
  await storeReserved(life, record, () => records.put(key, encodeRecord(record), options).then(() => true));
  return "restored";
}

/** The record as of now: with its end from the lists of ends, or by its own dates. */
function settled({ life, ends }: RestoreContext, copy: ImageRecord): ImageRecord {
  if (hasEnded(copy)) return copy.owner === null ? copy : { ...copy, owner: null };
  const end = ends.byId.get(copy.id);
  const withheld = end?.withheld ?? null;
  const record = withheld === null ? copy : { ...copy, withheld };
  const gone =
    end !== undefined && end.why !== null
      ? { at: end.at, why: end.why }
      : dueEnd(record, life.settings.now());
  return gone === null ? record : { ...endedRecord(record, gone), owner: null };
}

async function putRecord({ migration, isLiving }: RestoreContext, key: string, bytes: Buffer): Promise<void> {
  if (!isLiving) return putSmall(migration, key, bytes);
  await migration.to.records.put(key, bytes, { ifRevision: null });
  if ((await readSmall(migration.to.records, key)) !== null) return;
  throw new ServiceError("store_unavailable", "the target did not keep the record");
}

/** Restores missing bytes of a living record of the target; everything else stays unchanged. */
async function restoreBytes(
  context: RestoreContext,
  record: FoundRecord,
  copy: ImageRecord,
): Promise<Restored> {
  if (record === NEWER) return "kept";
  const { to } = context.migration;
  const picture = record === null ? null : pictureOf(record);
  if (record === null || picture === null || dueEnd(record, context.life.settings.now()) !== null) {
    return record !== null && hasEnded(record) ? "ended" : "kept";
  }
  if ((await to.originals.stat(picture)) !== null) return "kept";
  if (pictureOf(copy) !== picture || copy.sha256 !== record.sha256) return "kept";
  if (!(await bringBytes(context, copy))) return "damaged";
  const now = await readSmall(to.records, keyOf.record(copy.id));
  const latest = now === null ? null : recordIn(now);
  if (latest !== null && latest !== NEWER && pictureOf(latest) === picture) return "restored";
  // The image was deleted meanwhile.
  await to.originals.delete(picture);
  return "ended";
}

/** @returns whether the target now has the bytes, with the size and digest of the record. */
async function bringBytes({ migration, life }: RestoreContext, record: ImageRecord): Promise<boolean> {
  const picture = pictureOf(record);
  if (picture === null) return true;
  const beganAt = life.settings.now();
  // If this process dies before the record is written, the sweep finds the bytes by this entry.
  await migration.due.images.add({ id: record.id, dueMs: beganAt + ORPHAN_MS });
  const { size, sha256 } = record;
  const { outcome } = await copyBlob(migration, "originals", picture, { size, sha256 });
  if (life.settings.now() - beganAt >= ORPHAN_MS) {
    throw new ServiceError(
      "store_unavailable",
      "the copy took more than 15 minutes, so the sweep may have removed it: run this again",
    );
  }
  if (outcome === "copied" || outcome === "unchanged") return true;
  migration.damaged.set(picture, `is ${outcome === "missing" ? "missing" : "not as its record states"}`);
  return false;
}
