import { IMAGES_RULES } from "@outrigger/core/images";
import { idOfRecord } from "@outrigger/core/storage";
import { checkOptions, rules } from "@outrigger/core/stores";
import { type EndList, KnownEnds } from "./end-lists.ts";
import { Job, troublesOf } from "./job.ts";
import { type BackupManifest, readBackupManifest } from "./manifest.ts";
import { COPY_RULES, type MirrorReport } from "./options.ts";
import { type Restored, RestoreRun } from "./restore-images.ts";
import { isEmptyTarget, openSides, refusal, requireApart } from "./sides.ts";
import { countKeys, keysOfRole } from "./walk.ts";

const RULES = {
  ...COPY_RULES,
  /** `tombstoneDays` of the service: the days that it remembers gone images. @default 30 */
  tombstoneDays: IMAGES_RULES.tombstoneDays,
  /** Lists of images that ended after the backup; any number, in any order. @default none */
  ends: rules.preset([], rules.value<Iterable<EndList>>("a list of lists of ends", Array.isArray)),
  /**
   * Restores images missing from a living target, even if the backup is older than the target remembers deletions:
   * deleted images may return.
   * @default false
   */
  restoreAbsent: rules.preset(false, rules.flag()),
  /** Restores from a backup whose latest run did not finish. @default false */
  acceptIncomplete: rules.preset(false, rules.flag()),
};

export interface RestoreOptions extends rules.Options<typeof RULES> {}

/** The result of a restore. */
export interface RestoreReport extends Pick<MirrorReport, "bytes" | "damaged" | "failed" | "isComplete"> {
  manifest: BackupManifest;
  /** Whether the target had images already. */
  wasLiving: boolean;
  /** Images restored with their bytes. */
  restored: number;
  /** Images that were in the target, and stayed unchanged. */
  kept: number;
  /** Images that are deleted, expired or removed in the target; no bytes were restored. */
  ended: number;
  /** Images missing from a living target that may have been deleted. They were left out, see `restoreAbsent`. */
  absent: number;
}

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
  const settings = { ...options, ...openSides(options, options.tombstoneDays) };
  const job = new Job(settings);
  const { from, to, retry } = job;
  const manifest = await readUsable(job, options.acceptIncomplete);
  const isLiving = await isInUse(job, manifest);
  const own = isLiving ? await retry(() => to.identity.inspectForRestore(from.stores.records)) : null;
  requireSecret(manifest, [...(own?.secrets ?? []), ...to.identity.fingerprints(options.secret)]);
  await requireApart(job);
  if (isLiving) await retry(() => to.identity.removeMigrationMark());
  else await markUnfinished(job, manifest);
  const ends = new KnownEnds([...options.ends]);
  const rememberedSince = Date.now() - to.tombstoneMs;
  const mayAdd =
    options.restoreAbsent || manifest.since > rememberedSince || ends.covers(manifest.since, rememberedSince);
  const run = new RestoreRun(settings, { ends, isLiving, mayAdd });
  const counts = await restoreAll(run, isLiving);
  const isComplete = run.failed.size === 0;
  if (isComplete) {
    await options.beforeFinish?.();
    await finish(job, isLiving ? null : manifest);
  }
  const { restored, kept, ended, absent } = counts;
  return {
    manifest,
    wasLiving: isLiving,
    restored,
    bytes: run.progress.bytes,
    kept,
    ended,
    absent,
    damaged: troublesOf(run.damaged),
    failed: troublesOf(run.failed),
    isComplete,
  };
}

async function readUsable({ from, retry }: Job, acceptIncomplete: boolean): Promise<BackupManifest> {
  const held = await retry(() => readBackupManifest(from.stores.records));
  if (held === null) throw refusal("there is no backup at the source: name a store written by a backup");
  if (held.manifest.finishedAt === null && !acceptIncomplete) {
    throw refusal(
      `the backup is not whole: its run of ${new Date(held.manifest.beganAt).toISOString()} did not finish. Run the backup again, or accept an incomplete one (--incomplete)`,
    );
  }
  return held.manifest;
}

/** Whether the target has images that no earlier run of this restore wrote. */
async function isInUse(job: Job, { source }: BackupManifest): Promise<boolean> {
  const { to, retry } = job;
  if ((await retry(() => readBackupManifest(to.stores.records))) !== null)
    throw refusal("the target is itself a backup");
  const mark = await retry(() => to.identity.migration());
  if (mark?.finishedAt !== null) return !(await isEmptyTarget(job));
  if (mark.kind === "restore" && mark.source === source) return false;
  throw refusal(
    `the target is not whole: the copy from ${mark.source} did not finish. Finish that copy, or name an empty target`,
  );
}

function requireSecret({ secrets }: BackupManifest, known: readonly string[]): void {
  if (secrets.length === 0 || known.length === 0 || known.some((each) => secrets.includes(each))) return;
  throw refusal(
    "the secret is not the one that the PINs of the backup were made with: give the secret of the old service, or add it to the list of secrets",
  );
}

/** Keeps services from starting on the target before it is complete. */
async function markUnfinished({ to, retry }: Job, { source }: BackupManifest): Promise<void> {
  const times = { startedAt: Date.now(), finishedAt: null, seenMs: null };
  await retry(() => to.identity.markMigration({ kind: "restore", source, ...times }));
}

/** Beside images: claims, and what clients and operators have said. They follow from no image. */
const CARRIED = ["idempotency/", "reports/", "denied/"];

async function restoreAll(run: RestoreRun, isLiving: boolean): Promise<Record<Restored, number>> {
  const { from, progress } = run;
  const counts = { restored: 0, kept: 0, ended: 0, absent: 0, over: 0, damaged: 0 };
  progress.totalKeys = (await countKeys(from.stores, run)).records;
  progress.phase = "records";
  run.reportProgress();
  await run.each(keysOfRole(from.stores, "records", run), async (key) => {
    const id = idOfRecord(key);
    if (id !== null) {
      const outcome = await run.tryKey(key, () => run.restoreImage(id));
      if (outcome !== "failed") counts[outcome]++;
    } else if (!isLiving && CARRIED.some((prefix) => key.startsWith(prefix))) {
      // Other keys, such as the usage of owners, follow from the restored images.
      await run.tryKey(key, () => run.copyRecord(key));
    }
    progress.keys++;
    run.reportProgress();
  });
  return counts;
}

/**
 * Gives an empty target the identity of the lost store, so that nodes started on that store continue. A living one gets its own
 * again, with the mark of originals that were lost.
 * @param manifest `null`: the target is living.
 */
async function finish({ to, retry }: Job, manifest: BackupManifest | null): Promise<void> {
  await retry(async () => {
    const identity = manifest === null ? await to.identity.read() : manifest.identity;
    if (identity !== null) await to.identity.carry(identity);
  });
  await retry(() => to.identity.removeMigrationMark());
}
