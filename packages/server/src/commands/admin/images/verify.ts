import { isServiceError } from "@outrigger/core";
import type { StorageTargets } from "@outrigger/core/stores";
import { type PlannedRemovals, type VerifyFinding, type VerifyReport, verifyStorage } from "@outrigger/ops";
import { sizeText, timeText } from "../../../cli/amounts.ts";
import { confirm } from "../../../cli/confirm.ts";
import { reasonOf } from "../../../cli/error-reason.ts";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { printable } from "../../../cli/printable.ts";
import { ConfigError, StartError } from "../../../config/config-error.ts";
import { describeTargets } from "../../../config/targets/describe-storage.ts";
import { openStorage } from "../../../storage/open-storage.ts";
import { readSource } from "../migrate/read-sides.ts";
import { showCopy } from "../show-progress.ts";
import { type DataFlags, type OpenImages, withImages } from "../with-admin.ts";
import { openStateFile, type StateFile } from "./verify-state.ts";

/** The options of `outrigger images verify`, as typed. */
export interface VerifyFlags extends DataFlags {
  repair?: boolean;
  from?: string;
  yes?: boolean;
  maxRemovals?: number;
  /** Bytes per second. */
  rate?: number;
  concurrency?: number;
  state?: string;
  json?: boolean;
  quiet?: boolean;
}

const SIGNAL_EXIT = 130;

/** `outrigger images verify`: compares stored bytes with their records, and repairs damage on request. */
export async function verify(flags: VerifyFlags): Promise<void> {
  const { repair = false, yes = false, from, config, data } = flags;
  if (from !== undefined && !repair) refuse("--from: needs --repair");
  if (flags.maxRemovals !== undefined && !repair) refuse("--max-removals: needs --repair");
  if (repair && !yes && !process.stdin.isTTY) refuse("--yes: is required without a terminal");
  const where = { ...(config === undefined ? {} : { config }), ...(data === undefined ? {} : { data }) };
  await withImages(where, async (images) => {
    const source = from === undefined ? null : readSource(from, images.targets);
    if (repair && !yes && !(await mayRepair(images.targets, source))) {
      process.stderr.write("outrigger: nothing was changed\n");
      process.exitCode = 1;
      return;
    }
    const backup = source === null ? null : await openStorage(source);
    try {
      const state = await openStateFile(flags.state, { storage: nameOf(images.targets), repair });
      await run(flags, images, backup?.stores, state);
    } finally {
      await backup?.close();
    }
  });
}

async function run(
  { repair = false, maxRemovals, rate, concurrency, json = false, quiet = false }: VerifyFlags,
  { stores, options }: OpenImages,
  backup: OpenImages["stores"] | undefined,
  stateFile: StateFile,
): Promise<void> {
  // If the reader has ended, the exit code still reports damage.
  process.stdout.on("error", () => {});
  const interrupted = listenForSignals();
  const view = quiet ? null : showCopy(json);
  const beganAt = performance.now();
  try {
    const report = await verifyStorage({
      ...{ storage: stores, repair, ...options },
      ...(backup === undefined ? {} : { backup }),
      ...(maxRemovals === undefined ? {} : { maxRemovals }),
      onRemovals: printRemovals,
      ...(rate === undefined ? {} : { maxBytesPerSecond: rate }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(stateFile.state === null ? {} : { state: stateFile.state }),
      saveState: (state) => stateFile.save(state),
      signal: interrupted.signal,
      onFinding: (finding) => process.stdout.write(lineOf(finding, json)),
      onProgress: (progress) => view?.update(progress),
    });
    view?.close();
    await stateFile.remove();
    printReport(report, performance.now() - beganAt, json);
    if (report.defects > report.repaired) process.exitCode = 1;
  } catch (error) {
    view?.close();
    if (!interrupted.signal.aborted) throw stoppedError(error);
    const advice = stateFile.isKept
      ? "Run the same command again to resume"
      : "The verification is unfinished";
    process.stderr.write(`outrigger: Stopped. ${advice}\n`);
    process.exitCode = SIGNAL_EXIT;
  } finally {
    interrupted.end();
  }
}

/** Why a verification stopped; errors other than a store's are returned unchanged. */
function stoppedError(error: unknown): unknown {
  if (!isServiceError(error)) return error;
  const reason = reasonOf(error);
  const why = reason === error.message ? reason : `${error.message} (${reason})`;
  return new StartError(`The verification stopped: ${why}`, { cause: error });
}

function refuse(problem: string): never {
  throw new ConfigError("The command line", [problem]);
}

function mayRepair(targets: StorageTargets, source: StorageTargets | null): Promise<boolean> {
  const how =
    source === null
      ? "delete every damaged image"
      : `restore damaged images from ${nameOf(source)}, deleting those that cannot be restored`;
  return confirm(`Verify ${nameOf(targets)}, and ${how}? [y/N] `);
}

function nameOf(targets: StorageTargets): string {
  const described = describeTargets(targets);
  return typeof described === "string" ? described : JSON.stringify(described);
}

function lineOf(finding: VerifyFinding, json: boolean): string {
  if (json) return `${printable(JSON.stringify(finding))}\n`;
  const { id, key, what, detail, repair } = finding;
  const outcome = repair === null ? "" : `: ${repair === "failed" ? "not repaired" : repair}`;
  return `${id ?? key}  ${what}  ${printable(detail)}${outcome}\n`;
}

function printRemovals({ removals, of, most, isAllowed }: PlannedRemovals): void {
  const share = of === 0 ? 100 : Math.ceil((removals / of) * 1000) / 10;
  const what = `${removals} of ${of} images and orphaned originals (${share} %)`;
  process.stderr.write(
    isAllowed
      ? `outrigger: Removing ${what}\n`
      : `outrigger: Nothing was removed: that would be ${what}, more than ${most}. Check that the stores of all roles are the right ones and mounted. If they are, and no backup has these images, pass --max-removals ${removals}\n`,
  );
}

function printReport(report: VerifyReport, ms: number, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, ms: Math.round(ms) })}\n`);
    return;
  }
  const { images, bytes, defects, repaired, newer, undecided } = report;
  const seconds = Math.max(0.001, ms / 1000);
  const found = `${defects} defects, ${repaired} repaired, ${newer} of a newer version`;
  process.stdout.write(`${images} images, ${sizeText(bytes)}: ${found}, in ${timeText(seconds)}.\n`);
  if (undecided > 0) {
    process.stderr.write(
      `outrigger: ${undecided} originals without a record were not checked, because more than 1000 images are due. Run outrigger images sweep, then run this again\n`,
    );
  }
}
