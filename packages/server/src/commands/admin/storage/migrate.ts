import { bytesText } from "@outrigger/core/values";
import { type MigrationReport, migrateStorage } from "@outrigger/ops";
import { timeText } from "../../../cli/amounts.ts";
import { loadConfig } from "../../../config/load-config.ts";
import { secretsOf } from "../../../config/secret-text.ts";
import { requireDataDirectories } from "../../../storage/data-directory.ts";
import type { OpenStorage } from "../../../storage/open-storage.ts";
import { type JobFlags, type JobOutcome, RESUME, runJob } from "./run-job.ts";
import { planSecret } from "./secrets.ts";
import { nameOfStorage, readSide, requireApart, withStorage } from "./sides.ts";

/** The options of `outrigger migrate`, validated by the command line. */
export interface MigrateFlags extends JobFlags {
  from: string;
  to: string;
  secretFile?: string;
  /** `--without-renditions` */
  withoutRenditions?: boolean;
  verify?: boolean;
  config?: string;
}

/** `outrigger migrate`: makes the target storage equal to the source. */
export async function migrate(flags: MigrateFlags): Promise<void> {
  const { withoutRenditions = false, verify, secretFile } = flags;
  const from = readSide(flags.from, "--from");
  const to = readSide(flags.to, "--to");
  requireApart(to, from, "--to: must not share a store with --from");
  requireDataDirectories(Object.values(from));
  const { secret = [] } = await loadConfig({ config: flags.config }, process.env);
  const sides = { from: from.records, to: to.records };
  const plan = await planSecret({ ...sides, configured: secretsOf(secret), secretFile });
  const copy = (source: OpenStorage, target: OpenStorage) =>
    runJob(flags, { refused: "Nothing was copied", resume: RESUME }, async (options) => {
      const report = await migrateStorage({
        ...options,
        from: source.stores,
        to: target.stores,
        source: nameOfStorage(from),
        verify,
        withRenditions: !withoutRenditions,
        secret: plan.known.length === 0 ? undefined : plan.known,
        beforeFinish: plan.carry,
      });
      return outcomeOf(report, plan.advice);
    });
  await withStorage(from, (source) => withStorage(to, (target) => copy(source, target), true));
}

function outcomeOf(report: MigrationReport, pins: string): JobOutcome {
  const { images, copied, bytes, unchanged, removed, damaged, failed, isComplete, keys } = report;
  const why =
    failed.length > 0
      ? "some keys could not be copied"
      : `the source has ${keys.from} keys, the target ${keys.to}: the source is changing. Stop the processes that use it`;
  return {
    report: { ...report, pins },
    troubles: { "damaged at the source": damaged, "not copied": failed },
    notes:
      damaged.length === 0
        ? []
        : [`${damaged.length} damaged at the source and copied unchanged: see outrigger images verify`],
    lines(seconds: number) {
      const done = `${copied} keys copied (${bytesText(bytes)}), ${unchanged} unchanged, ${removed} removed`;
      const rate = `${Math.round(images / seconds)} images/s, ${bytesText(Math.round(bytes / seconds))}/s`;
      const summary = `${images} images: ${done}, in ${timeText(seconds)} (${rate}).`;
      return isComplete ? [summary, `Both sides have the same ${keys.to} keys.`, pins] : [summary];
    },
    failure: isComplete
      ? null
      : `The target is incomplete, and no server starts on it: ${why}, and run this again`,
    isWhole: isComplete && damaged.length === 0,
  };
}
