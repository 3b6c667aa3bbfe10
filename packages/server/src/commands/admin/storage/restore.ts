import type { BlobStore } from "@outrigger/core/stores";
import { bytesText } from "@outrigger/core/values";
import { type BackupManifest, type RestoreReport, readBackupManifest, restoreStorage } from "@outrigger/ops";
import { isoText, timeText } from "../../../cli/amounts.ts";
import { loadPart } from "../../../cli/parts.ts";
import { printOut } from "../../../cli/print.ts";
import { type DataFlags, loadConfig } from "../../../config/load-config.ts";
import { lookupDatabaseOf } from "../../../config/lookup-settings.ts";
import { settingsOf } from "../../../config/settings.ts";
import { requireDataDirectories } from "../../../storage/data-directory.ts";
import { lacksStore } from "../../../storage/inspect-targets.ts";
import type { OpenStorage } from "../../../storage/open-storage.ts";
import { requireImages } from "../with-admin.ts";
import { readEnds } from "./read-ends.ts";
import { type JobFlags, type JobOutcome, RESUME, runJob } from "./run-job.ts";
import { putSecretBack, readSecrets, secretsOfStorage } from "./secrets.ts";
import { readPlace, withPlace, withStorage } from "./sides.ts";

/** The options of `outrigger restore`, validated by the command line. */
export interface RestoreFlags extends DataFlags, JobFlags {
  from: string;
  ends?: string[];
  absent?: boolean;
  incomplete?: boolean;
}

/** `outrigger restore`: fills empty storage from a backup, or adds missing images to storage in use. */
export async function restore(flags: RestoreFlags): Promise<void> {
  const { absent = false, incomplete = false, json = false } = flags;
  const place = readPlace(flags.from, "--from");
  requireDataDirectories([place]);
  const config = await loadConfig(flags, process.env);
  const { storage, secret: configured, images } = settingsOf(config);
  if (storage.records.kind === "memory") requireImages(storage);
  // A missing directory is created.
  requireDataDirectories(Object.values(storage).filter((target) => !lacksStore(target)));
  const ends = await readEnds(flags.ends ?? []);
  const secrets = await secretsOfStorage(storage.records, configured);
  const backedUp = await readSecrets(place);
  const secret = secrets.length > 0 ? secrets : backedUp.secrets;
  const database = lookupDatabaseOf(config, storage);
  const copy = (from: BlobStore, target: OpenStorage) =>
    runJob(flags, { refused: "Nothing was restored", resume: RESUME }, async (options) => {
      const manifest = (await readBackupManifest(from))?.manifest;
      if (manifest !== undefined && !json) printOut(introductionOf(manifest));
      // Why the suppressions could not be added.
      let lookup: string | null = null;
      let pins = "";
      const report = await restoreStorage({
        ...options,
        from,
        to: target.stores,
        tombstoneDays: images.tombstoneDays,
        secret: secret.length === 0 ? undefined : secret,
        ends: ends.lists,
        restoreAbsent: absent,
        acceptIncomplete: incomplete,
        async beforeFinish() {
          if (database !== null && ends.suppressions.length > 0) {
            const { addSuppressions } = await loadPart("lookup", () => import("./add-suppressions.ts"));
            lookup = await addSuppressions(database, ends.suppressions);
          }
          pins = await putSecretBack(storage.records, secrets, backedUp);
        },
      });
      return outcomeOf(report, lookup, pins);
    });
  await withPlace(place, (from) => withStorage(storage, (target) => copy(from, target), true));
}

/** A sentence with the age and content of the backup. */
function introductionOf({ finishedAt, beganAt, images, source }: BackupManifest): string {
  const at = finishedAt ?? beganAt;
  const state = finishedAt === null ? "begun" : "of";
  return `The backup ${state} ${isoText(at)} (${timeText(Math.max(1, (Date.now() - at) / 1000))} ago) has ${images} images of ${source}.\n`;
}

function outcomeOf(report: RestoreReport, lookup: string | null, pins: string): JobOutcome {
  const { restored, bytes, kept, ended, absent, wasLiving, damaged, failed, isComplete } = report;
  const skipped = `${absent} images unknown to the storage were skipped: they may have been deleted since the backup. Pass the lists of ends since the backup (--ends), or --absent`;
  return {
    report: { ...report, lookup, pins },
    troubles: { "damaged in the backup": damaged, "not restored": failed },
    notes: [...(absent > 0 ? [skipped] : []), ...(lookup === null ? [] : [lookup])],
    lines(seconds) {
      const there = wasLiving ? "existed and stay unchanged" : "existed from an earlier run";
      const summary = `${restored} images restored (${bytesText(bytes)}), ${kept} ${there}, ${ended} have ended, in ${timeText(seconds)}.`;
      return isComplete ? [summary, pins] : [summary];
    },
    failure: isComplete ? null : "Some keys were not restored. Run this again to resume",
    isWhole: isComplete && damaged.length === 0 && absent === 0 && lookup === null,
  };
}
