import { existsSync } from "node:fs";
import type { BlobStore } from "@outrigger/core/stores";
import { bytesText } from "@outrigger/core/values";
import { type BackedUpLookup, type BackupReport, backupStorage } from "@outrigger/ops";
import { isoText, timeText } from "../../../cli/amounts.ts";
import { type DataFlags, loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { settingsOf } from "../../../config/settings.ts";
import { type DatabaseTarget, describeDatabase } from "../../../config/targets/database-target.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import { noteDatabase } from "../../../lookup/note-database.ts";
import type { OpenStorage } from "../../../storage/open-storage.ts";
import { requireImages } from "../with-admin.ts";
import { copyLookup, whyNot } from "./lookup-copies.ts";
import { type JobFlags, type JobOutcome, RESUME, runJob } from "./run-job.ts";
import { requireSecretPlace, secretsOfStorage, writeSecrets } from "./secrets.ts";
import { nameOfStorage, readPlace, withPlace, withStorage } from "./sides.ts";

/** The options of `outrigger backup`, validated by the command line. */
export interface BackupFlags extends DataFlags, JobFlags {
  to: string;
  withSecret?: boolean;
  verify?: boolean;
}

/** `outrigger backup`: copies and verifies all irreplaceable data while the service runs. */
export async function backup(flags: BackupFlags): Promise<void> {
  const place = readPlace(flags.to, "--to");
  const config = await loadConfig(flags, process.env);
  const { storage, secret } = settingsOf(config);
  requireImages(storage);
  const secrets = await secretsOfStorage(storage.records, secret);
  const secretsPath = flags.withSecret === true ? requireSecretPlace(place, secrets) : null;
  const database = presentDatabase(lookupDatabaseOf(config, storage), config.lookup);
  const copy = (source: OpenStorage, to: BlobStore) =>
    runJob(flags, { refused: "Nothing was backed up", resume: RESUME }, async (options) => {
      let trouble: string | null = null;
      const report = await backupStorage({
        ...options,
        from: source.stores,
        to,
        source: nameOfStorage(storage),
        verify: flags.verify,
        secret: secrets.length === 0 ? undefined : secrets,
        async addLookup(earlier) {
          if (database === null) return earlier;
          noteDatabase(database);
          try {
            return await copyLookup(database, to, earlier);
          } catch (error) {
            // Reported at the end, so that the images are still backed up.
            trouble = `The lookup's database ${describeDatabase(database)} is not in the backup: ${whyNot(error)}`;
            return earlier;
          }
        },
      });
      if (secretsPath !== null) await writeSecrets(secretsPath, secrets);
      return outcomeOf(report, trouble, describeTarget(place), secretsPath);
    });
  await withStorage(storage, (source) => withPlace(place, (to) => copy(source, to), true));
}

/** The default database beside the images may not exist. */
function presentDatabase(database: DatabaseTarget | null, lookup: unknown): DatabaseTarget | null {
  const isWanted = (lookup ?? false) !== false;
  return database?.kind === "file" && !isWanted && !existsSync(database.path) ? null : database;
}

function outcomeOf(
  report: BackupReport,
  trouble: string | null,
  where: string,
  secretsPath: string | null,
): JobOutcome {
  const { images, copied, bytes, unchanged, removed, damaged, failed, isComplete, manifest } = report;
  const secret =
    secretsPath === null
      ? "It does not have the secret: store the secret separately, like a password."
      : `The secret is in ${secretsPath}: protect it like a password.`;
  return {
    report: { ...report, trouble },
    troubles: { "damaged at the source": damaged, "not copied": failed },
    notes: trouble === null ? [] : [trouble],
    lines(seconds) {
      const summary = `${images} images: ${copied} keys copied (${bytesText(bytes)}), ${unchanged} unchanged, ${removed} removed, in ${timeText(seconds)}.`;
      if (!isComplete) return [summary];
      const complete = `The backup ${where} is complete, as of ${isoText(manifest.beganAt)}.`;
      return [summary, `${complete} ${lookupText(manifest.lookup)}`, secret];
    },
    failure: isComplete
      ? null
      : `The backup ${where} is incomplete: some keys were not copied. Run this again`,
    isWhole: isComplete && damaged.length === 0 && trouble === null,
  };
}

function lookupText(lookup: BackedUpLookup | null): string {
  if (lookup === null) return "It has no database of the lookup.";
  return `It has the database of the lookup as of ${isoText(lookup.copiedAt)} (${bytesText(lookup.size)}).`;
}
