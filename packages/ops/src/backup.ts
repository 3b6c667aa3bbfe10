import { isServiceError } from "@outrigger/core";
import type { StoreIdentity } from "@outrigger/core/storage";
import { checkOptions } from "@outrigger/core/stores";
import { type BackupManifest, type HeldManifest, readBackupManifest, writeManifest } from "./manifest.ts";
import { Mirror } from "./mirror.ts";
import { MIRROR_RULES, type MirrorReport, type StorageMirrorOptions } from "./options.ts";
import { isEmptyTarget, openSides, refusal, requireApart, requireImages } from "./sides.ts";

/** The result of a backup. */
export interface BackupReport extends MirrorReport {
  manifest: BackupManifest;
}

const TOOL = "outrigger";

/**
 * Copies records, originals and everything else except renditions into another store. The source may be in use: each image
 * is copied in its state before or after an edit. A further run, after an end of any kind, copies the changes and removes
 * keys that the source no longer has.
 *
 * Every copied blob is read back and compared, originals also with their records. The manifest
 * ({@link readBackupManifest}) states whether the backup is complete. The stores stay open.
 *
 * @throws ServiceError `conflict` if the target must not be written to; `no_space` if it is full; `store_unavailable` if a
 * store is unavailable for longer than `patienceMs`. After the latter two, run it again once the cause is fixed.
 * @example
 * const to = createFsBlobStore({ directory: "/backup/images" });
 * const { isComplete } = await backupStorage({ from, to, source: "the disk of web1" });
 */
export async function backupStorage(given: StorageMirrorOptions): Promise<BackupReport> {
  const options = checkOptions("backupStorage", given, MIRROR_RULES);
  const mirror = new Mirror({ ...options, ...openSides(options), isBackup: true, withRenditions: false });
  const { to, retry, progress } = mirror;
  const begun = await begin(mirror, options.source, options.secret);
  const pass = await mirror.copyAll(true);
  progress.phase = "comparing";
  mirror.reportProgress();
  // Images added meanwhile are left to the next run: a source in use never equals its backup.
  const removed = await mirror.removeExtra();
  const isComplete = mirror.failed.size === 0;
  if (isComplete) await options.beforeFinish?.();
  const manifest: BackupManifest = {
    ...begun.manifest,
    images: pass.images,
    keys: pass.copied + pass.unchanged,
    damaged: mirror.damaged.size,
    ...(isComplete ? { finishedAt: Date.now(), since: begun.manifest.beganAt } : {}),
  };
  await retry(() => writeManifest(to.stores.records, manifest, begun.revision)).catch(notAlone);
  return { ...mirror.report(pass, removed, isComplete), manifest };
}

/** Checks that the target may be written to, and marks the backup as incomplete. */
async function begin(
  mirror: Mirror,
  source: string,
  secret: StorageMirrorOptions["secret"],
): Promise<HeldManifest> {
  const { from, to, retry } = mirror;
  const { records } = to.stores;
  if ((await retry(() => from.identity.migration()))?.finishedAt === null) {
    throw refusal("the source is the target of an unfinished migration or restore: finish that first");
  }
  if ((await retry(() => readBackupManifest(from.stores.records))) !== null) {
    throw refusal("the source is itself a backup: copy it with migrate, or name the storage in use");
  }
  const earlier = await retry(() => readBackupManifest(records));
  const isEmpty = await isEmptyTarget(mirror);
  if (earlier === null && !isEmpty) throw refusal("the target is not empty, and it is no backup");
  const identity = await retry(() => from.identity.inspect());
  requireOurs(earlier, identity, source);
  await requireApart(mirror);
  await mirror.countSource();
  if (!isEmpty) await requireImages(mirror, "backup");
  const beganAt = Date.now();
  const manifest: BackupManifest = {
    images: 0,
    keys: 0,
    damaged: 0,
    since: beganAt,
    ...earlier?.manifest,
    v: 1,
    tool: TOOL,
    source,
    identity,
    beganAt,
    finishedAt: null,
    secrets: identity?.secrets ?? from.identity.fingerprints(secret),
  };
  const revision = await retry(() => writeManifest(records, manifest, earlier?.revision ?? null)).catch(
    notAlone,
  );
  await retry(() => to.identity.writeBackup(identity));
  return { manifest, revision };
}

/** Rejects a backup of another storage. A source without its identity came back empty, and must not empty its backup. */
function requireOurs(earlier: HeldManifest | null, identity: StoreIdentity | null, source: string): void {
  if (earlier === null) return;
  const { identity: other, source: name } = earlier.manifest;
  const isOurs = other === null ? name === source : identity?.id === other.id;
  if (!isOurs) throw refusal(`the target is a backup of another storage (${name})`);
}

function notAlone(error: unknown): never {
  if (!isServiceError(error, "conflict")) throw error;
  throw refusal("another run writes to the same backup: wait until it ends, and run this again");
}
