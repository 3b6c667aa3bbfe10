import { existsSync } from "node:fs";
import { type BackedUpLookup, type BackupReport, backupStorage } from "@outrigger/ops";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { settingsOf } from "../../../config/settings.ts";
import { type DatabaseTarget, describeDatabase } from "../../../config/targets/database-target.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import { type OpenStorage, type OpenTarget, openStorage } from "../../../storage/open-storage.ts";
import { nameOf, printWarnings } from "../migrate/migrate.ts";
import { printTroubles } from "../migrate/print-report.ts";
import { runCopy } from "../migrate/run-copy.ts";
import { type DataFlags, requireImages } from "../with-admin.ts";
import { openPlace, readPlace } from "./backup-place.ts";
import { requireSecretPlace, secretsOfStorage, writeSecrets } from "./kept-secrets.ts";
import { copyLookup, whyNot } from "./lookup-copies.ts";

/** The options of `outrigger backup`, validated by the command line. */
export interface BackupFlags extends DataFlags {
  to: string;
  withSecret?: boolean;
  verify?: boolean;
  concurrency?: number;
  json?: boolean;
  quiet?: boolean;
}

interface Plan {
  source: OpenStorage;
  target: OpenTarget;
  name: string;
  secrets: Buffer[];
  /** File for the secrets; `null` to write none. */
  secretsPath: string | null;
  database: DatabaseTarget | null;
  /** Whether the lookup is configured. */
  isLookupWanted: boolean;
}

/** `outrigger backup`: copies and verifies all irreplaceable data while the service runs. */
export async function backup(flags: BackupFlags): Promise<void> {
  const place = readPlace(flags.to, "--to");
  const config = await loadConfig(dataFlags(flags), process.env);
  const { storage, secret } = settingsOf(config);
  requireImages(storage);
  const secrets = await secretsOfStorage(storage.records, secret);
  const secretsPath = flags.withSecret === true ? requireSecretPlace(place, secrets) : null;
  const database = lookupDatabaseOf(config, storage);
  const source = await openStorage(storage);
  try {
    const target = await openPlace(place);
    try {
      await printWarnings([target]);
      const isLookupWanted = (config.lookup ?? false) !== false;
      const plan = { source, target, name: nameOf(storage), secrets, secretsPath, database, isLookupWanted };
      await run(flags, plan);
    } finally {
      await target.store.close();
    }
  } finally {
    await source.close();
  }
}

/** The flags for {@link loadConfig}. */
export function dataFlags({ config, data }: DataFlags): DataFlags {
  return { ...(config === undefined ? {} : { config }), ...(data === undefined ? {} : { data }) };
}

async function run(
  { verify = false, concurrency, json = false, quiet = false }: BackupFlags,
  plan: Plan,
): Promise<void> {
  const { source, target, secrets, secretsPath } = plan;
  const beganAt = performance.now();
  let trouble: string | null = null;
  await runCopy({ quiet, json }, "Nothing was backed up", async (running) => {
    const report = await backupStorage({
      from: source.stores,
      to: target.store,
      source: plan.name,
      ...(secrets.length === 0 ? {} : { secret: secrets }),
      verify,
      ...(concurrency === undefined ? {} : { concurrency }),
      ...running.options,
      async addLookup(earlier) {
        const added = await addLookup(plan, earlier);
        trouble = added.trouble;
        return added.lookup;
      },
    });
    if (secretsPath !== null) await writeSecrets(secretsPath, secrets);
    running.end();
    tell(report, performance.now() - beganAt, plan, trouble, json);
    if (!report.isComplete || report.damaged.length > 0 || trouble !== null) process.exitCode = 1;
  });
}

/** A failure of the lookup is reported at the end, so that the images are still backed up. */
async function addLookup(
  { database, isLookupWanted, target }: Plan,
  earlier: BackedUpLookup | null,
): Promise<{ lookup: BackedUpLookup | null; trouble: string | null }> {
  // The default database beside the images may not exist.
  const isNone = database?.kind === "file" && !isLookupWanted && !existsSync(database.path);
  if (database === null || isNone) return { lookup: earlier, trouble: null };
  try {
    return { lookup: await copyLookup(database, target.store, earlier), trouble: null };
  } catch (error) {
    const where = describeDatabase(database);
    return {
      lookup: earlier,
      trouble: `The lookup's database ${where} is not in the backup: ${whyNot(error)}`,
    };
  }
}

function tell(report: BackupReport, ms: number, plan: Plan, trouble: string | null, json: boolean): void {
  // If the reader has ended, the exit code still reports failures.
  process.stdout.on("error", () => {});
  printTroubles("damaged at the source", report.damaged);
  printTroubles("not copied", report.failed);
  if (trouble !== null) process.stderr.write(`outrigger: ${trouble}\n`);
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, ms: Math.round(ms), trouble })}\n`);
    return;
  }
  const { images, copied, bytes, unchanged, removed, isComplete, manifest } = report;
  const seconds = Math.max(0.001, ms / 1000);
  process.stdout.write(
    `${images} images: ${copied} keys copied (${sizeText(bytes)}), ${unchanged} unchanged, ${removed} removed, in ${timeText(seconds)}.\n`,
  );
  const where = describeTarget(plan.target.target);
  if (!isComplete) {
    process.stderr.write(
      `outrigger: The backup ${where} is incomplete: some keys were not copied. Run this again\n`,
    );
    return;
  }
  const { lookup } = manifest;
  const copiedLookup =
    lookup === null
      ? "It has no database of the lookup."
      : `It has the database of the lookup as of ${new Date(lookup.copiedAt).toISOString()} (${sizeText(lookup.size)}).`;
  const secret =
    plan.secretsPath === null
      ? "It does not have the secret: store the secret separately, like a password."
      : `The secret is in ${plan.secretsPath}: protect it like a password.`;
  process.stdout.write(
    `The backup ${where} is complete, as of ${new Date(manifest.beganAt).toISOString()}. ${copiedLookup}\n${secret}\n`,
  );
}
