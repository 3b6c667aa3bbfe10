import type { BlobStore } from "@outrigger/core/stores";
import { bytesText } from "@outrigger/core/values";
import { type BackupReport, backupStorage } from "@outrigger/ops";
import { isoText, timeText } from "../../../cli/amounts.ts";
import { type DataFlags, loadConfig } from "../../../config/load-config.ts";
import { settingsOf } from "../../../config/settings.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import type { OpenStorage } from "../../../storage/open-storage.ts";
import { requireImages } from "../with-admin.ts";
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
  const { storage, secret } = settingsOf(await loadConfig(flags, process.env));
  requireImages(storage);
  const secrets = await secretsOfStorage(storage.records, secret);
  const secretsPath = flags.withSecret === true ? requireSecretPlace(place, secrets) : null;
  const copy = (source: OpenStorage, to: BlobStore) =>
    runJob(flags, { refused: "Nothing was backed up", resume: RESUME }, async (options) => {
      const report = await backupStorage({
        ...options,
        from: source.stores,
        to,
        source: nameOfStorage(storage),
        verify: flags.verify,
        secret: secrets.length === 0 ? undefined : secrets,
      });
      if (secretsPath !== null) await writeSecrets(secretsPath, secrets);
      return outcomeOf(report, describeTarget(place), secretsPath);
    });
  await withStorage(storage, (source) => withPlace(place, (to) => copy(source, to), true));
}

function outcomeOf(report: BackupReport, where: string, secretsPath: string | null): JobOutcome {
  const { images, copied, bytes, unchanged, removed, damaged, failed, isComplete, manifest } = report;
  const secret =
    secretsPath === null
      ? "It does not have the secret: store the secret separately, like a password."
      : `The secret is in ${secretsPath}: protect it like a password.`;
  return {
    report,
    troubles: { "damaged at the source": damaged, "not copied": failed },
    notes: [],
    lines(seconds) {
      const summary = `${images} images: ${copied} keys copied (${bytesText(bytes)}), ${unchanged} unchanged, ${removed} removed, in ${timeText(seconds)}.`;
      if (!isComplete) return [summary];
      return [summary, `The backup ${where} is complete, as of ${isoText(manifest.beganAt)}.`, secret];
    },
    failure: isComplete
      ? null
      : `The backup ${where} is incomplete: some keys were not copied. Run this again`,
    isWhole: isComplete && damaged.length === 0,
  };
}
