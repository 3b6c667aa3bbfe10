import { ServiceError } from "../../errors.ts";
import { hasEnded } from "../record/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { NewerVersion } from "../record/known-version.ts";
import { decodeRecord } from "../record/record-codec.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import type { Digest } from "./blob-digest.ts";
import { type Copied, copyBlob, readSmall } from "./copy-blob.ts";
import { fromSource, type MigrationContext } from "./migration-context.ts";

/** A record written by a newer release: copied as bytes, neither decoded nor compared. */
export const NEWER = "newer";
/** Due time of an image of a newer release, in Unix milliseconds: only its record states the real time. */
export const AT_ONCE = 0;
export type FoundRecord = ImageRecord | typeof NEWER | null;

/** Copies an original or an upload, and compares it with its record. */
export async function copyPicture(context: MigrationContext, key: string): Promise<Copied> {
  const [id = ""] = key.split("/");
  const isBackup = context.mode === "backup";
  const before = await readRecord(context, id);
  await noteLeftover(context, key, id, before);
  const known = before ?? (isBackup ? await keptRecord(context, id) : null);
  const expected = expectedOf(known, key);
  const copied = await copyBlob(context, "originals", key, isBackup ? expected : null);
  if (copied.outcome === "missing" || copied.digest === null) return copied;
  if (expected === null || isAsSaid(expected, copied.digest)) return copied;
  const after = await readRecord(context, id);
  if (JSON.stringify(after) !== JSON.stringify(before)) {
    throw new ServiceError("conflict", "its record changed at the source during the copy");
  }
  context.damaged.set(
    key,
    `its record says ${expected.size} bytes with the SHA-256 ${expected.sha256}, the source has ${copied.digest.size} with ${copied.digest.sha256}`,
  );
  return copied;
}

/** The record in an earlier backup, for a damaged record at the source. */
export async function keptRecord({ to }: MigrationContext, id: string): Promise<FoundRecord> {
  const bytes = await readSmall(to.records, keyOf.record(id));
  return bytes === null ? null : recordIn(bytes);
}

/** The record at the source; `null`: there is none, or its bytes are not a record. */
async function readRecord({ from }: MigrationContext, id: string): Promise<FoundRecord> {
  const bytes = await fromSource(() => readSmall(from.records, keyOf.record(id)));
  return bytes === null ? null : recordIn(bytes);
}

/** Decodes a record; `null`: the bytes are not a record. */
export function recordIn(bytes: Buffer): FoundRecord {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    if (error instanceof NewerVersion) return NEWER;
    // The copy of the record reports it.
    return null;
  }
}

/** The key of the bytes that a record names; `null`: the image has ended, and has no bytes. */
export function pictureOf(record: ImageRecord): string | null {
  if (hasEnded(record)) return null;
  return record.processing === null ? keyOf.original(record.id) : keyOf.upload(record.id);
}

function expectedOf(record: FoundRecord, key: string): Digest | null {
  if (record === null || record === NEWER) return null;
  return pictureOf(record) === key ? { size: record.size, sha256: record.sha256 } : null;
}

function isAsSaid(expected: Digest, { size, sha256 }: Digest): boolean {
  return expected.size === size && expected.sha256 === sha256;
}

/** Adds a due entry for a blob without a record, so that the target's sweep removes the blob like the source's would. */
async function noteLeftover(
  { due }: MigrationContext,
  key: string,
  id: string,
  record: FoundRecord,
): Promise<void> {
  if (record === null) await due.images.add({ id, dueMs: Date.now() + ORPHAN_MS });
  else if (key === keyOf.upload(id)) {
    await due.jobs.add({ id, dueMs: record === NEWER ? AT_ONCE : record.createdAt });
  }
}
