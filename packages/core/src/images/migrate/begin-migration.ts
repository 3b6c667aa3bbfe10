import { randomBytes } from "node:crypto";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { createSeenClock } from "../life/clock-guard.ts";
import type { StorageRoles } from "../record/storage-roles.ts";
import { resetNotes } from "../renditions/rendition-notes.ts";
import { inspectStores, requireKnownFormat } from "../store/inspect-stores.ts";
import { type MigrationMark, readMigrationMark, writeMigrationMark } from "../store/migration-mark.ts";
import { rolesApart } from "../store/role-marks.ts";
import { readIdentity } from "../store/store-identity.ts";
import { readSmall } from "./copy-blob.ts";
import { estimateKeys, hasKeys, isEmptyStore } from "./every-key.ts";
import type { MigrationContext } from "./migration-context.ts";
import { tellTotal } from "./mirror.ts";

const PROBE = "migration/probe";

/**
 * Estimates the keys to copy, checks that the target may be written to, and marks it as unfinished.
 * Rejects with `conflict` before any change.
 */
export async function beginMigration(context: MigrationContext, source: string): Promise<MigrationMark> {
  const { from, to, retry } = context;
  // From another store of originals, a second run would remove those of the target.
  await retry(() => inspectStores(from, { apart: rolesApart(from) }));
  const held = await retry(() => readIdentity(to.records));
  if (held !== null) requireKnownFormat(held.identity);
  if ((await retry(() => readMigrationMark(from.records)))?.finishedAt === null) {
    throw refusal("the source is itself the target of an unfinished migration: finish that first");
  }
  const earlier = await retry(() => readMigrationMark(to.records));
  const isEmpty = await areEmpty(context);
  if (earlier === null && !isEmpty) {
    throw refusal("the target is not empty, and no migration to it has begun: name an empty target");
  }
  if (earlier !== null) await requireOurs(context, earlier, source);
  await requireApart(context);
  await expectKeys(context);
  if (!isEmpty && !(await hasKeys(from, "records", context))) {
    throw refusal("the source has no images, so this run would remove all images from the target");
  }
  context.isFresh = isEmpty;
  const mark = { source, startedAt: Date.now(), finishedAt: null, seenMs: null };
  await retry(() => writeMigrationMark(to.records, mark));
  await retry(() => resetNotes(to.records));
  return mark;
}

/** Estimates the keys to process. */
export async function expectKeys(context: MigrationContext): Promise<void> {
  Object.assign(context.expected, await estimateKeys(context.from, context));
  tellTotal(context);
}

async function areEmpty(context: MigrationContext): Promise<boolean> {
  for (const store of storesOf(context.to)) if (!(await isEmptyStore(store, context))) return false;
  return true;
}

/** Checks that the earlier run had the same source, and that its target is not in use. */
async function requireOurs(
  { due, retry }: MigrationContext,
  { source: other, finishedAt, seenMs }: MigrationMark,
  source: string,
): Promise<void> {
  if (other !== source) throw refusal(`the target was copied from another source (${other})`);
  const lastMs = await retry(() => createSeenClock(due.clock).last());
  if (finishedAt !== null && lastMs !== seenMs) {
    throw refusal("the target has been in use since it was copied: name an empty target");
  }
}

/** Checks that no store is on both sides: two addresses may lead to one store. */
export async function requireApart({ from, to, retry }: MigrationContext): Promise<void> {
  const probe = randomBytes(16);
  for (const store of storesOf(to)) {
    await retry(() => store.put(PROBE, probe));
    try {
      for (const other of storesOf(from)) {
        const found = await retry(() => readSmall(other, PROBE));
        if (found?.equals(probe)) throw refusal("the same store is on both sides");
      }
    } finally {
      await retry(() => store.delete(PROBE));
    }
  }
}

function storesOf(storage: StorageRoles): Set<BlobStore> {
  return new Set(Object.values(storage));
}

export function refusal(reason: string): ServiceError {
  return new ServiceError("conflict", reason);
}
