import { ServiceError } from "../../errors.ts";
import { hasEnded } from "../record/image-life.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { NewerVersion } from "../record/known-version.ts";
import { decodeRecord } from "../record/record-codec.ts";
import { ORPHAN_MS } from "../uploads/orphan-watch.ts";
import type { Digest } from "./blob-digest.ts";
import { type Copied, copyBlob, readSmall } from "./copy-blob.ts";
import { fromSource, type MigrationContext } from "./migration-context.ts";

/** A record that a newer release wrote: copied as bytes, and neither looked into nor compared. */
export const NEWER = "newer";
/** When to look at what a newer release wrote, in Unix milliseconds: only its record says more. */
export const AT_ONCE = 0;
export type FoundRecord = ImageRecord | typeof NEWER | null;

/** Copies an original or an upload, and compares it with what its record says of it. */
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
    throw new ServiceError("conflict", "its record is being changed at the source");
  }
  context.damaged.set(
    key,
    `its record says ${expected.size} bytes with the SHA-256 ${expected.sha256}, the source has ${copied.digest.size} with ${copied.digest.sha256}`,
  );
  return copied;
}

/** What an earlier backup has, where the source's record is damaged. */
export async function keptRecord({ to }: MigrationContext, id: string): Promise<FoundRecord> {
  const bytes = await readSmall(to.records, keyOf.record(id));
  return bytes === null ? null : recordIn(bytes);
}

/** What a record that is no more than bytes without sense says nothing of. */
async function readRecord({ from }: MigrationContext, id: string): Promise<FoundRecord> {
  const bytes = await fromSource(() => readSmall(from.records, keyOf.record(id)));
  return bytes === null ? null : recordIn(bytes);
}

/** A record from its bytes; `null`: they are no record. */
export function recordIn(bytes: Buffer): FoundRecord {
  try {
    return decodeRecord(bytes);
  } catch (error) {
    if (error instanceof NewerVersion) return NEWER;
    // The copy of the record itself reports it.
    return null;
  }
}

/** Which bytes a record is about, under which key; `null`: none, or no longer. */
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

/** Notes a blob without a record at the target, so that the target's sweep removes it as the source's would. */
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
