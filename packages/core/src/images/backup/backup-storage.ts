import { checkOptions } from "../../check-options.ts";
import { blobStore } from "../../contract-rules.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { type Checked, fn, type RuleTable, required, secret, text } from "../../option-rules.ts";
import { expectKeys, refusal, requireApart } from "../migrate/begin-migration.ts";
import { hasKeys, isEmptyStore } from "../migrate/every-key.ts";
import type { MigrateOptions, MigrationTrouble } from "../migrate/migrate-options.ts";
import {
  COPY_RULES,
  createMigrationContext,
  type MigrationContext,
  troublesOf,
} from "../migrate/migration-context.ts";
import { copyAll, removeExtra } from "../migrate/mirror.ts";
import { MIN_SECRET_BYTES, type Secret } from "../record/pin.ts";
import { inspectStores } from "../store/inspect-stores.ts";
import { readMigrationMark } from "../store/migration-mark.ts";
import { rolesApart } from "../store/role-marks.ts";
import { fingerprintsOf, writeBackupIdentity } from "../store/store-identity.ts";
import {
  type BackedUpLookup,
  type BackupManifest,
  type HeldManifest,
  readBackupManifest,
  writeManifest,
} from "./backup-manifest.ts";

export interface BackupOptions
  extends Pick<
    MigrateOptions,
    "from" | "source" | "verify" | "concurrency" | "patienceMs" | "signal" | "onProgress"
  > {
  /** Empty, or with an earlier backup of the same source. A single store, and not one of the source. */
  to: BlobStore;
  /** Name and version of the program, for the manifest. */
  tool: string;
  /** Secrets of the source, whose fingerprints go into the manifest. @default the fingerprints in the source's identity */
  secret?: Secret | undefined;
  /**
   * Adds the lookup database after the images are copied.
   * @param earlier The database in the backup from an earlier run.
   * @returns the database that it has now; `null`: none.
   * @default keeps the earlier database
   */
  addLookup?: ((earlier: BackedUpLookup | null) => Promise<BackedUpLookup | null>) | undefined;
}

const { withRenditions: _withRenditions, ...SHARED_RULES } = COPY_RULES;

const RULES = {
  ...SHARED_RULES,
  to: required(blobStore),
  source: required(text("a name of the source")),
  tool: required(text("the name and version of a program")),
  secret: secret(MIN_SECRET_BYTES, true),
  addLookup: fn(),
} satisfies RuleTable<BackupOptions>;

/** The result of a backup. */
export interface BackupReport {
  /** Records of images at the source. */
  images: number;
  /** Number of keys written to the backup. */
  copied: number;
  bytes: number;
  /** Keys that were in the backup already. */
  unchanged: number;
  /** Keys removed from the backup, since the source no longer has them. */
  removed: number;
  /** Keys that the source has lost or cannot read. The backup keeps an earlier good copy, if it has one. */
  damaged: MigrationTrouble[];
  /** Keys that did not arrive intact, or not at all. */
  failed: MigrationTrouble[];
  /** Whether the backup has everything that the source can read. */
  isComplete: boolean;
  manifest: BackupManifest;
}

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
 * const { isComplete } = await backupStorage({ from, to, source: "the disk of web1", tool: "my-app 1.0" });
 */
export async function backupStorage(given: BackupOptions): Promise<BackupReport> {
  const options = checkOptions("backupStorage", given, RULES);
  const context = createMigrationContext({ ...options, withRenditions: false }, "backup");
  const { to, retry, progress, tell } = context;
  const begun = await beginBackup(context, options);
  const first = await copyAll(context);
  progress.phase = "comparing";
  tell();
  // Images added meanwhile are left to the next run: a source in use never equals its backup.
  const removed = await removeExtra(context);
  const lookup = await (options.addLookup ?? kept)(begun.manifest.lookup);
  const isComplete = context.failed.size === 0;
  const manifest: BackupManifest = {
    ...begun.manifest,
    images: first.images,
    keys: first.copied + first.unchanged,
    damaged: context.damaged.size,
    lookup,
    ...(isComplete ? { finishedAt: Date.now(), since: begun.manifest.beganAt } : {}),
  };
  await retry(() => writeManifest(to.records, manifest, begun.revision)).catch(notAlone);
  await removeLookups(context, lookup);
  const { images, copied, unchanged } = first;
  return {
    ...{ images, copied, bytes: progress.bytes, unchanged, removed },
    damaged: troublesOf(context.damaged),
    failed: troublesOf(context.failed),
    isComplete,
    manifest,
  };
}

/** Checks that the target may be written to, and marks the backup as incomplete. */
async function beginBackup(
  context: MigrationContext,
  { source, tool, secret: given }: Pick<Checked<BackupOptions, typeof RULES>, "source" | "tool" | "secret">,
): Promise<HeldManifest> {
  const { from, to, retry } = context;
  if ((await retry(() => readMigrationMark(from.records)))?.finishedAt === null) {
    throw refusal("the source is the target of an unfinished migration or restore: finish that first");
  }
  if ((await retry(() => readBackupManifest(from.records))) !== null) {
    throw refusal("the source is itself a backup: copy it with migrate, or name the storage in use");
  }
  const earlier = await retry(() => readBackupManifest(to.records));
  const isEmpty = await isEmptyStore(to.records, context);
  if (earlier === null && !isEmpty) throw refusal("the target is not empty, and it is no backup");
  const { held } = await retry(() => inspectStores(from, { apart: rolesApart(from) }));
  const identity = held?.identity ?? null;
  if (earlier !== null) {
    const { identity: other } = earlier.manifest;
    // A source without its identity came back empty, and must not empty its backup.
    const isOurs = other === null ? earlier.manifest.source === source : identity?.id === other.id;
    if (!isOurs) throw refusal(`the target is a backup of another storage (${earlier.manifest.source})`);
  }
  await requireApart(context);
  await expectKeys(context);
  if (!isEmpty && !(await hasKeys(from, "records", context))) {
    throw refusal("the source has no images, so this run would remove all images from the backup");
  }
  const beganAt = Date.now();
  const manifest: BackupManifest = {
    ...{ images: 0, keys: 0, damaged: 0, lookup: null, since: beganAt, ...earlier?.manifest },
    ...{ v: 1, tool, source, identity, beganAt, finishedAt: null },
    secrets: identity?.secrets ?? (given === undefined ? [] : fingerprintsOf(given)),
  };
  const revision = await retry(() => writeManifest(to.records, manifest, earlier?.revision ?? null)).catch(
    notAlone,
  );
  await retry(() => writeBackupIdentity(to.records, identity));
  return { manifest, revision };
}

async function kept(earlier: BackedUpLookup | null): Promise<BackedUpLookup | null> {
  return earlier;
}

function notAlone(error: unknown): never {
  if (!isServiceError(error, "conflict")) throw error;
  throw refusal("another run writes to the same backup: wait until it ends, and run this again");
}

/** Removes copies of the lookup database that are not in the manifest. */
async function removeLookups({ to, retry }: MigrationContext, lookup: BackedUpLookup | null): Promise<void> {
  const { keys } = await retry(() => to.records.list("backup/lookup/"));
  for (const key of keys) if (key !== lookup?.key) await retry(() => to.records.delete(key));
}
