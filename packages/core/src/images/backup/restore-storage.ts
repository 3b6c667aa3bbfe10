import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import { blobStore, imageStorage } from "../../contract-rules.ts";
import { isServiceError } from "../../errors.ts";
import { type Checked, flag, fn, preset, type RuleTable, required, value } from "../../option-rules.ts";
import { defaultSettings, IMAGES_RULES, imageSettings } from "../image-settings.ts";
import { createLife } from "../life/create-life.ts";
import { refusal, requireApart } from "../migrate/begin-migration.ts";
import { copyRecord } from "../migrate/copy-record.ts";
import { countKeys, isEmptyStore, keysOfRole } from "../migrate/every-key.ts";
import {
  attempt,
  COPY_RULES,
  createMigrationContext,
  type MigrationContext,
  troublesOf,
} from "../migrate/migration-context.ts";
import { idOfRecord } from "../record/image-record.ts";
import { removeStored } from "../renditions/remove-stored.ts";
import { carryIdentity } from "../store/carry-identity.ts";
import { requireOurs, UNMARKED } from "../store/inspect-stores.ts";
import { readMigrationMark, removeMigrationMark, writeMigrationMark } from "../store/migration-mark.ts";
import { BYTES_ROLES, readMark } from "../store/role-marks.ts";
import { sampleRecords } from "../store/sample-originals.ts";
import { createAdminGuard } from "../store/store-guard.ts";
import { fingerprintsOf, readIdentity, type StoreIdentity, StoreRefused } from "../store/store-identity.ts";
import { type BackupManifest, readBackupManifest } from "./backup-manifest.ts";
import { mergeEnds } from "./end-lists.ts";
import { type RestoreContext, type Restored, restoreImage } from "./restore-image.ts";
import type { RestoreOptions, RestoreReport } from "./restore-options.ts";

const RULES = {
  from: required(blobStore),
  to: required(imageStorage),
  tombstoneDays: IMAGES_RULES.tombstoneDays,
  secret: IMAGES_RULES.secret,
  ends: preset([], value("a list of lists of ends", Array.isArray)),
  restoreAbsent: preset(false, flag()),
  acceptIncomplete: preset(false, flag()),
  concurrency: COPY_RULES.concurrency,
  patienceMs: COPY_RULES.patienceMs,
  signal: COPY_RULES.signal,
  onProgress: COPY_RULES.onProgress,
  beforeFinish: fn(),
} satisfies RuleTable<RestoreOptions>;

type CheckedOptions = Checked<RestoreOptions, typeof RULES>;

/**
 * Restores images from a backup. An empty target becomes the former source, with its identity, and is marked as unfinished
 * until it is complete. A living target gets only the images that it lacks. An image that it has, or remembers as gone, stays
 * unchanged. An image that it does not know is restored only if it cannot have been deleted and forgotten since the backup.
 *
 * An image that a list of ends names as gone is restored as gone, without bytes; a withheld image answers 451. Owners are
 * charged for restored images. Every blob is compared with its record and read back. Renditions are not restored. The
 * stores stay open.
 *
 * @throws ServiceError `conflict` if the backup or the target must not be used; `no_space`; `store_unavailable`.
 * @example
 * const from = createFsBlobStore({ directory: "/backup/images" });
 * const { restored, manifest } = await restoreStorage({ from, to: createFsBlobStore({ directory: "./data" }) });
 */
export async function restoreStorage(given: RestoreOptions): Promise<RestoreReport> {
  const options = checkOptions("restoreStorage", given, RULES);
  const migration = createMigrationContext({ ...options, verify: false, withRenditions: false }, "backup");
  const { from, to, retry, concurrency, signal, progress, tell } = migration;
  const manifest = await readUsable(migration, options);
  const isLiving = await isInUse(migration, manifest);
  const own = isLiving ? await ownIdentity(migration) : null;
  requireSecret(manifest, options, own);
  await requireApart(migration);
  const { tombstoneDays } = options;
  const settings = imageSettings({ ...defaultSettings("restoreStorage"), tombstoneDays });
  const guard = createAdminGuard(to, settings.log);
  const { life } = createLife(to, settings, guard, (id) => removeStored(to, id));
  const ends = mergeEnds(options.ends);
  const rememberedSince = Date.now() - settings.tombstoneMs;
  const mayAdd =
    options.restoreAbsent || manifest.since > rememberedSince || ends.covers(manifest.since, rememberedSince);
  if (isLiving) await retry(() => removeMigrationMark(to.records));
  else await beginFresh(migration, manifest);
  progress.totalKeys = (await countKeys(from, migration)).records;
  progress.phase = "records";
  tell();
  const counts: Record<Restored, number> = { restored: 0, kept: 0, ended: 0, absent: 0, over: 0, damaged: 0 };
  const context: RestoreContext = { migration, life, ends, isLiving, mayAdd };
  await forEachAtOnce(keysOfRole(from, "records", migration), concurrency, restoreOne, signal);
  const isComplete = migration.failed.size === 0;
  if (isComplete) await options.beforeFinish?.();
  if (isComplete && !isLiving) await finishFresh(migration, manifest);
  else if (isComplete && own !== null) await retry(() => carryIdentity(to, own));
  const { restored, kept, ended, absent } = counts;
  return {
    manifest,
    wasLiving: isLiving,
    ...{ restored, bytes: progress.bytes, kept, ended, absent },
    damaged: troublesOf(migration.damaged),
    failed: troublesOf(migration.failed),
    isComplete,
  };

  async function restoreOne(key: string): Promise<void> {
    const id = idOfRecord(key);
    if (id !== null) {
      const outcome = await attempt(migration, key, () => restoreImage(context, id));
      if (outcome !== "failed") counts[outcome]++;
    } else if (!isLiving && key.startsWith("idempotency/")) {
      // Other keys, such as the usage of owners, follow from the restored images.
      await attempt(migration, key, () => copyRecord(migration, key));
    }
    progress.keys++;
    tell();
  }
}

async function readUsable(
  { from, retry }: MigrationContext,
  { acceptIncomplete }: CheckedOptions,
): Promise<BackupManifest> {
  const held = await retry(() => readBackupManifest(from.records));
  if (held === null) throw refusal("there is no backup at the source: name a store written by a backup");
  if (held.manifest.finishedAt === null && !acceptIncomplete) {
    throw refusal(
      `the backup is not whole: its run of ${new Date(held.manifest.beganAt).toISOString()} did not finish. Run the backup again, or accept an incomplete one (--incomplete)`,
    );
  }
  return held.manifest;
}

/** Whether the target has images that no earlier run of this restore wrote. */
async function isInUse(context: MigrationContext, { source }: BackupManifest): Promise<boolean> {
  const { to, retry } = context;
  if ((await retry(() => readBackupManifest(to.records))) !== null)
    throw refusal("the target is itself a backup");
  const mark = await retry(() => readMigrationMark(to.records));
  if (mark?.finishedAt === null) {
    if (mark.kind === "restore" && mark.source === source) return false;
    throw refusal(
      `the target is not whole: the copy from ${mark.source} did not finish. Finish that copy, or name an empty target`,
    );
  }
  for (const store of new Set(Object.values(to))) if (!(await isEmptyStore(store, context))) return true;
  return false;
}

function requireSecret(
  { secrets }: BackupManifest,
  { secret }: CheckedOptions,
  own: StoreIdentity | null,
): void {
  const known = [...(own?.secrets ?? []), ...(secret === undefined ? [] : fingerprintsOf(secret))];
  if (secrets.length === 0 || known.length === 0 || known.some((each) => secrets.includes(each))) return;
  throw refusal(
    "the secret is not the one that the PINs of the backup were made with: give the secret of the old service, or add it to the list of secrets",
  );
}

/** Keeps services from starting on the target before it is complete. */
async function beginFresh({ to, retry }: MigrationContext, { source }: BackupManifest): Promise<void> {
  const mark = { kind: "restore" as const, source, startedAt: Date.now(), finishedAt: null, seenMs: null };
  await retry(() => writeMigrationMark(to.records, mark));
}

/**
 * The identity of a living target. Rejects if its originals belong to another storage. The disk of the originals may be lost: a store
 * without a mark is filled, and marked at the end, if it is empty or an interrupted run has filled a part of it.
 */
async function ownIdentity(context: MigrationContext): Promise<StoreIdentity | null> {
  const { from, to, retry } = context;
  const held = await retry(() => readIdentity(to.records));
  for (const role of BYTES_ROLES) {
    const mark = await retry(() => readMark(to[role], role));
    requireOurs(mark, role, held);
    const isDue = mark === null && role === "originals" && held?.identity.originalsApart === true;
    if (!isDue) continue;
    const { looked, found } = await retry(() => sampleRecords(to.originals, [to.records, from.records]));
    if (found < looked) throw new StoreRefused(UNMARKED, role);
  }
  return held?.identity ?? null;
}

/** Gives the target the identity of the lost store, so that nodes started on that store continue. */
async function finishFresh({ to, retry }: MigrationContext, { identity }: BackupManifest): Promise<void> {
  if (identity !== null) {
    try {
      await retry(() => carryIdentity(to, identity));
    } catch (error) {
      if (!isServiceError(error, "conflict")) throw error;
      throw refusal("a service has started to use the target: stop the service, and run this again");
    }
  }
  await retry(() => removeMigrationMark(to.records));
}
