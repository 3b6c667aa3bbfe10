import { checkOptions } from "../../check-options.ts";
import { blobStore } from "../../contract-rules.ts";
import type { BlobStore } from "../../contracts/blob-store.ts";
import { isServiceError } from "../../errors.ts";
import { type Checked, fn, type RuleTable, required, secret, text } from "../../option-rules.ts";
import { refusal, requireApart } from "../migrate/begin-migration.ts";
import { countKeys, isEmptyStore } from "../migrate/every-key.ts";
import type { MigrateOptions, MigrationTrouble } from "../migrate/migrate-options.ts";
import {
  COPY_RULES,
  createMigrationContext,
  type MigrationContext,
  troublesOf,
} from "../migrate/migration-context.ts";
import { copyAll, removeExtra } from "../migrate/mirror.ts";
import { MIN_SECRET_BYTES, type Secret } from "../record/pin.ts";
import { readMigrationMark } from "../store/migration-mark.ts";
import { fingerprintsOf, readIdentity, writeBackupIdentity } from "../store/store-identity.ts";
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
  /** Empty, or as an earlier backup of the same source left it. It is one store, and none of the source. */
  to: BlobStore;
  /** Name and version of the program, for the manifest. */
  tool: string;
  /** Secrets of the source, of which the manifest has the fingerprints. @default those that the source itself knows */
  secret?: Secret;
  /**
   * Adds the database of the lookup when the images are copied.
   * @param earlier what the backup has from an earlier run.
   * @returns what it has now; `null`: nothing.
   * @default what it has stays
   */
  addLookup?(earlier: BackedUpLookup | null): Promise<BackedUpLookup | null>;
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

/** What a backup did. */
export interface BackupReport {
  /** Records of images at the source. */
  images: number;
  /** Keys that were written to the backup, with their bytes. */
  copied: number;
  bytes: number;
  /** Keys that the backup had already. */
  unchanged: number;
  /** Keys that were removed from the backup since the source has them no more. */
  removed: number;
  /** What the source has lost or cannot read. The backup keeps an earlier good copy of it, where it has one. */
  damaged: MigrationTrouble[];
  /** What did not arrive as it was sent, or not at all. */
  failed: MigrationTrouble[];
  /** Whether the backup has all that the source can give. */
  isComplete: boolean;
  manifest: BackupManifest;
}

/**
 * Copies records, originals and all else that cannot be made again into another store; no renditions. The source may be in
 * use: each image is copied in the state before or after an edit. Run again, after an end of any kind, it copies what has
 * changed, and removes what the source does not have any more.
 *
 * Every blob that is copied is read back and compared, and originals with what their records say. The manifest, see
 * {@link readBackupManifest}, says whether the backup is whole. The stores stay open.
 *
 * @throws ServiceError `conflict` where the target must not be written to; `no_space` when it is full; `store_unavailable`
 * when a store is away for longer than `patienceMs`. All but the first may be repeated.
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
  // What came meanwhile is left to the next run: a source in use is never equal.
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

/** Proves that the target may be written to, and says there that the backup is not whole. */
async function beginBackup(
  context: MigrationContext,
  { source, tool, secret: given }: Pick<Checked<BackupOptions, typeof RULES>, "source" | "tool" | "secret">,
): Promise<HeldManifest> {
  const { from, to, retry, roles, progress, tell } = context;
  if ((await retry(() => readMigrationMark(from.records)))?.finishedAt === null) {
    throw refusal("the source is the target of a migration or a restore that is not finished");
  }
  if ((await retry(() => readBackupManifest(from.records))) !== null) {
    throw refusal("the source is itself a backup: copy it with migrate, or name the storage that is served");
  }
  const earlier = await retry(() => readBackupManifest(to.records));
  const isEmpty = await isEmptyStore(to.records, retry);
  if (earlier === null && !isEmpty) throw refusal("the target is not empty, and it is no backup");
  const identity = (await retry(() => readIdentity(from.records)))?.identity ?? null;
  if (earlier !== null) {
    const { identity: other } = earlier.manifest;
    // A source that has lost its identity has come back empty, and must not empty its backup.
    const isOurs = other === null ? earlier.manifest.source === source : identity?.id === other.id;
    if (!isOurs) throw refusal(`the target is a backup of another storage (${earlier.manifest.source})`);
  }
  await requireApart(context);
  const counts = await countKeys(from, retry);
  if (counts.records === 0 && !isEmpty) {
    throw refusal("the source has no images, and the backup has some, which would all be removed");
  }
  for (const role of roles) progress.totalKeys += counts[role];
  tell();
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
  throw refusal("another run writes to the same backup at the same time");
}

/** Removes copies of the database that the manifest does not name. */
async function removeLookups({ to, retry }: MigrationContext, lookup: BackedUpLookup | null): Promise<void> {
  const { keys } = await retry(() => to.records.list("backup/lookup/"));
  for (const key of keys) if (key !== lookup?.key) await retry(() => to.records.delete(key));
}
