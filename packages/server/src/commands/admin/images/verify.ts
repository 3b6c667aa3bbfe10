import type { StorageTargets } from "@outrigger/core/stores";
import { bytesText } from "@outrigger/core/values";
import { type PlannedRemovals, type VerifyFinding, type VerifyReport, verifyStorage } from "@outrigger/ops";
import { timeText } from "../../../cli/amounts.ts";
import { mayProceed, requireAnswer } from "../../../cli/confirm.ts";
import { jsonText, note, printable, printOut } from "../../../cli/print.ts";
import { usageError } from "../../../config/config-error.ts";
import type { DataFlags } from "../../../config/load-config.ts";
import { describeTarget } from "../../../config/targets/describe-storage.ts";
import { requireDataDirectories } from "../../../storage/data-directory.ts";
import { type JobFlags, type JobOutcome, runJob } from "../storage/run-job.ts";
import { nameOfStorage, readSide, requireApart, withStorage } from "../storage/sides.ts";
import { type OpenImages, withImages } from "../with-admin.ts";

/** The options of `outrigger images verify`, as typed. */
export interface VerifyImagesFlags extends DataFlags, JobFlags {
  repair?: boolean;
  from?: string;
  yes?: boolean;
  maxRemovals?: number;
  /** Bytes per second. */
  rate?: number;
}

/** `outrigger images verify`: compares stored bytes with their records, and repairs damage on request. */
export async function verify(flags: VerifyImagesFlags): Promise<void> {
  const { repair = false, yes = false, from, maxRemovals } = flags;
  if (from !== undefined && !repair) throw usageError("--from: needs --repair");
  if (maxRemovals !== undefined && !repair) throw usageError("--max-removals: needs --repair");
  if (repair) requireAnswer(yes);
  await withImages(flags, async (images) => {
    const source = from === undefined ? null : readSide(from, "--from");
    if (source !== null) {
      requireApart(source, images.targets, "--from: must differ from the storage being repaired");
      requireDataDirectories(Object.values(source));
    }
    if (repair && !(await mayProceed(yes, repairQuestion(images.targets, source)))) return;
    if (source === null) return run(flags, images, null);
    await withStorage(source, (backup) => run(flags, images, backup.stores));
  });
}

async function run(
  flags: VerifyImagesFlags,
  { stores, targets, options: adminOptions }: OpenImages,
  backup: OpenImages["stores"] | null,
): Promise<void> {
  const { repair = false, maxRemovals, rate, json = false } = flags;
  await runJob(
    flags,
    { refused: "The verification stopped", resume: "The verification is unfinished" },
    async (options) => {
      const report = await verifyStorage({
        ...options,
        ...adminOptions,
        storage: stores,
        repair,
        backup: backup ?? undefined,
        maxRemovals,
        maxBytesPerSecond: rate,
        onRemovals: (planned) => printRemovals(planned, describeTarget(targets.originals)),
        onFinding: (finding) => printOut(lineOf(finding, json)),
      });
      return outcomeOf(report);
    },
  );
}

function repairQuestion(targets: StorageTargets, source: StorageTargets | null): string {
  const how =
    source === null
      ? "delete every damaged image"
      : `restore damaged images from ${nameOfStorage(source)}, deleting those that cannot be restored`;
  return `Verify ${nameOfStorage(targets)}, and ${how}?`;
}

function lineOf(finding: VerifyFinding, json: boolean): string {
  if (json) return jsonText(finding);
  const { id, key, what, detail, repair } = finding;
  const outcome = repair === null ? "" : `: ${repair === "failed" ? "not repaired" : repair}`;
  return `${id ?? key}  ${what}  ${printable(detail)}${outcome}\n`;
}

function printRemovals({ removals, of, most, isAllowed, areAllAbsent }: PlannedRemovals, at: string): void {
  const share = of === 0 ? 100 : Math.ceil((removals / of) * 1000) / 10;
  const what = `${removals} of ${of} images and orphaned originals (${share} %)`;
  const stopped = `Nothing was removed: that would be ${what}`;
  const all = `and no image has its original in ${at}. Mount or name the right store, or restore the originals with outrigger restore`;
  const many = `more than ${most}. Check that ${at} and the stores of the other roles are the right ones and mounted. If they are, and no backup has these images, pass --max-removals ${removals}`;
  note(isAllowed ? `Removing ${what}` : `${stopped}, ${areAllAbsent ? all : many}`);
}

function outcomeOf(report: VerifyReport): JobOutcome {
  const { images, bytes, defects, repaired, newer, undecided } = report;
  const found = `${defects} ${defects === 1 ? "defect" : "defects"}, ${repaired} repaired, ${newer} of a newer version`;
  return {
    report,
    troubles: {},
    notes: [],
    lines: (seconds) => [`${images} images, ${bytesText(bytes)}: ${found}, in ${timeText(seconds)}.`],
    failure:
      undecided === 0
        ? null
        : `${undecided} originals without a record were not checked, because more than 1000 images are due. Run outrigger images sweep, then run this again`,
    isWhole: defects <= repaired,
  };
}
