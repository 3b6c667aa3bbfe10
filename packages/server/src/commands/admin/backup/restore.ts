import { existsSync } from "node:fs";
import { join } from "node:path";
import { distinctTargets, type StorageTargets } from "@outrigger/core/stores";
import { type BackupManifest, type RestoreReport, readBackupManifest, restoreStorage } from "@outrigger/ops";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { loadPart } from "../../../cli/parts.ts";
import { loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { type ServerSettings, settingsOf } from "../../../config/settings.ts";
import { type DatabaseTarget, describeDatabase } from "../../../config/targets/database-target.ts";
import { requireDataDirectory } from "../../../storage/data-directory.ts";
import { type OpenStorage, type OpenTarget, openStorage } from "../../../storage/open-storage.ts";
import { printWarnings } from "../migrate/migrate.ts";
import { printTroubles } from "../migrate/print-report.ts";
import { requireDirectories } from "../migrate/read-sides.ts";
import { runCopy } from "../migrate/run-copy.ts";
import { type DataFlags, requireImages } from "../with-admin.ts";
import { dataFlags } from "./backup.ts";
import { type BackupPlace, openPlace, readPlace } from "./backup-place.ts";
import { putSecretBack, readSecrets, secretsOfStorage } from "./kept-secrets.ts";
import { whyNot } from "./lookup-copies.ts";
import { type ReadEnds, readEnds } from "./read-ends.ts";

/** The options of `outrigger restore`, validated by the command line. */
export interface RestoreFlags extends DataFlags {
  from: string;
  ends?: string[];
  absent?: boolean;
  incomplete?: boolean;
  concurrency?: number;
  json?: boolean;
  quiet?: boolean;
}

interface Plan {
  place: BackupPlace;
  from: OpenTarget;
  to: OpenStorage;
  settings: ServerSettings;
  /** The secrets of the service before the restore. */
  secrets: Buffer[];
  inBackup: Awaited<ReturnType<typeof readSecrets>>;
  database: DatabaseTarget | null;
  ends: ReadEnds;
}

/** `outrigger restore`: fills empty storage from a backup, or adds missing images to storage in use. */
export async function restore(flags: RestoreFlags): Promise<void> {
  const place = readPlace(flags.from, "--from");
  requireDirectories({ records: place, originals: place, renditions: place });
  const config = await loadConfig(dataFlags(flags), process.env);
  const settings = settingsOf(config);
  const { storage } = settings;
  requireUsable(storage);
  const ends = await readEnds(flags.ends ?? []);
  const secrets = await secretsOfStorage(storage.records, settings.secret);
  const inBackup = await readSecrets(place);
  const database = lookupDatabaseOf(config, storage);
  const from = await openPlace(place);
  try {
    const to = await openStorage(storage);
    try {
      await printWarnings(to.targets);
      await run(flags, { place, from, to, settings, secrets, inBackup, database, ends });
    } finally {
      await to.close();
    }
  } finally {
    await from.store.close();
  }
}

/** Verifies that the target is not in memory, and that an existing one belongs to this user. @throws StartError */
function requireUsable(storage: StorageTargets): void {
  if (storage.records.kind === "memory") requireImages(storage);
  for (const { target } of distinctTargets(storage)) {
    const isThere = target.kind === "file" && existsSync(join(target.directory, "blobs"));
    if (isThere) requireDataDirectory(target.directory);
  }
}

async function run(flags: RestoreFlags, plan: Plan): Promise<void> {
  const { absent = false, incomplete = false, concurrency, json = false, quiet = false } = flags;
  const { settings, secrets, inBackup, ends } = plan;
  const secret = secrets.length > 0 ? secrets : inBackup.secrets;
  const { tombstoneDays } = settings.images ?? {};
  const beganAt = performance.now();
  let lookup: LookupNews = { said: "", hasFailed: false };
  let pins = "";
  await runCopy({ quiet, json }, "Nothing was restored", async (running) => {
    const held = await readBackupManifest(plan.from.store);
    if (held !== null && !json) process.stdout.write(introductionOf(held.manifest));
    const report = await restoreStorage({
      from: plan.from.store,
      to: plan.to.stores,
      ...(tombstoneDays === undefined ? {} : { tombstoneDays }),
      ...(secret.length === 0 ? {} : { secret }),
      ends: ends.lists,
      restoreAbsent: absent,
      acceptIncomplete: incomplete,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...running.options,
      async beforeFinish() {
        if (held !== null) lookup = await bringLookup(plan, held.manifest);
        pins = await putSecretBack(settings.storage.records, secrets, inBackup);
      },
    });
    running.end();
    tell(report, performance.now() - beganAt, lookup, pins, json);
    const isWhole = report.isComplete && report.damaged.length === 0 && report.absent === 0;
    if (!isWhole || lookup.hasFailed) process.exitCode = 1;
  });
}

/** The result for the lookup, in a sentence. */
interface LookupNews {
  said: string;
  hasFailed: boolean;
}

async function bringLookup({ from, database, ends }: Plan, { lookup }: BackupManifest): Promise<LookupNews> {
  if (database === null) {
    const said =
      "The backup has a database of the lookup, but the configuration has none: set OUTRIGGER_LOOKUP_DATABASE.";
    return lookup === null ? { said: "", hasFailed: false } : { said, hasFailed: true };
  }
  const where = describeDatabase(database);
  if (lookup === null && ends.suppressions.length === 0) return { said: "", hasFailed: false };
  try {
    const { addSuppressions, restoreLookup } = await loadPart("lookup", () => import("./restore-lookup.ts"));
    const outcome = lookup === null ? null : await restoreLookup(from.store, lookup, database);
    await addSuppressions(database, ends.suppressions);
    if (outcome === null || lookup === null) return { said: "", hasFailed: false };
    const said =
      outcome === "living"
        ? `The lookup's database ${where} exists and stays unchanged.`
        : `The lookup's database ${where} is restored, as of ${new Date(lookup.copiedAt).toISOString()}.`;
    return { said, hasFailed: false };
  } catch (error) {
    return { said: `The lookup's database ${where} is not restored: ${whyNot(error)}`, hasFailed: true };
  }
}

/** A sentence with the age and content of the backup. */
function introductionOf({ finishedAt, beganAt, images, source }: BackupManifest): string {
  const at = finishedAt ?? beganAt;
  const state = finishedAt === null ? "begun" : "of";
  return `The backup ${state} ${new Date(at).toISOString()} (${timeText(Math.max(1, (Date.now() - at) / 1000))} ago) has ${images} images of ${source}.\n`;
}

function tell(report: RestoreReport, ms: number, lookup: LookupNews, pins: string, json: boolean): void {
  // If the reader has ended, the exit code still reports failures.
  process.stdout.on("error", () => {});
  printTroubles("damaged in the backup", report.damaged);
  printTroubles("not restored", report.failed);
  const { restored, bytes, kept, ended, absent, wasLiving, isComplete } = report;
  if (absent > 0) {
    process.stderr.write(
      `outrigger: ${absent} images unknown to the storage were skipped: they may have been deleted since the backup. Pass the lists of ends since the backup (--ends), or --absent\n`,
    );
  }
  if (lookup.hasFailed) process.stderr.write(`outrigger: ${lookup.said}\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, ms: Math.round(ms), lookup: lookup.said, pins })}\n`);
    return;
  }
  process.stdout.write(
    `${restored} images restored (${sizeText(bytes)}), ${kept} ${wasLiving ? "existed and stay unchanged" : "existed from an earlier run"}, ${ended} have ended, in ${timeText(Math.max(0.001, ms / 1000))}.\n`,
  );
  if (!isComplete) {
    process.stderr.write("outrigger: Some keys were not restored. Run this again to resume\n");
    return;
  }
  if (lookup.said !== "" && !lookup.hasFailed) process.stdout.write(`${lookup.said}\n`);
  process.stdout.write(`${pins}\n`);
}
