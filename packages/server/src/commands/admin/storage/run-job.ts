import { isServiceError } from "@outrigger/core";
import type { rules } from "@outrigger/core/stores";
import { bytesText } from "@outrigger/core/values";
import type { StorageProgress, StorageRunOptions, StorageTrouble } from "@outrigger/ops";
import { timeText } from "../../../cli/amounts.ts";
import { reasonOf } from "../../../cli/error-reason.ts";
import { untilInterrupted } from "../../../cli/interruption.ts";
import { note, printable, printOut } from "../../../cli/print.ts";
import { progressLine, secondsSince } from "../../../cli/progress-line.ts";
import { StartError } from "../../../config/config-error.ts";

/** Options of every command that runs over a storage. */
export interface JobFlags {
  concurrency?: number;
  json?: boolean;
}

/** What a run has done. */
export interface JobOutcome {
  /** Printed with `--json`. */
  report: object;
  /** Keys with problems, by what they have in common. */
  troubles: Readonly<Record<string, readonly StorageTrouble[]>>;
  /** Sentences for standard error. */
  notes: readonly string[];
  /** Lines for standard output without `--json`. @param seconds How long the run took. */
  lines(seconds: number): readonly string[];
  /** A sentence for standard error at the end without `--json`; `null`: none. */
  failure: string | null;
  /** Whether nothing is missing or damaged. */
  isWhole: boolean;
}

export interface JobWords {
  /** Start of the message for a rejected job, e.g. `Nothing was copied`. */
  refused: string;
  /** How to go on after a signal or a failure. */
  resume: string;
}

/** The next step after a job that keeps what it has done. */
export const RESUME = "Run the same command again to resume";

/** Runs a job with a progress display until it finishes or a signal ends it, and prints what it has done. */
export async function runJob(
  { concurrency, json = false }: JobFlags,
  words: JobWords,
  work: (options: Partial<rules.Filled<StorageRunOptions>>) => Promise<JobOutcome>,
): Promise<void> {
  const line = progressLine();
  const beganAt = performance.now();
  await untilInterrupted(
    async (signal) => {
      try {
        const outcome = await work({
          signal,
          onProgress: (progress) => line.update(() => progressText(progress, secondsSince(beganAt))),
          ...(concurrency === undefined ? {} : { concurrency }),
        });
        line.close();
        printOutcome(outcome, secondsSince(beganAt), json);
      } catch (error) {
        throw jobError(error, words);
      } finally {
        line.close();
      }
    },
    () => `. ${words.resume}`,
  );
}

function progressText({ phase, keys, totalKeys, bytes }: StorageProgress, seconds: number): string {
  // The source may grow.
  const total = Math.max(totalKeys, keys);
  const left = keys === 0 || keys === total ? "" : `, ${timeText((seconds / keys) * (total - keys))} left`;
  return `${phase}: ${keys} of ${total} keys, ${bytesText(bytes)}, ${Math.round(keys / seconds)} keys/s${left}`;
}

function printOutcome(outcome: JobOutcome, seconds: number, json: boolean): void {
  for (const [what, troubles] of Object.entries(outcome.troubles)) {
    for (const { key, reason } of troubles) note(`${what}: ${printable(key)}: ${printable(reason)}`);
  }
  for (const each of outcome.notes) note(each);
  if (json) printOut(`${JSON.stringify({ ...outcome.report, ms: Math.round(seconds * 1000) })}\n`);
  else {
    printOut(
      outcome
        .lines(seconds)
        .map((line) => `${line}\n`)
        .join(""),
    );
    if (outcome.failure !== null) note(outcome.failure);
  }
  if (!outcome.isWhole) process.exitCode = 1;
}

/** Why a job stopped, with the remedy. Other errors are returned unchanged. */
function jobError(error: unknown, { refused, resume }: JobWords): unknown {
  if (!isServiceError(error)) return error;
  const said = error.message.replace(/\.$/, "");
  const why = reasonOf(error).replace(/\.$/, "");
  const reason = said === why ? said : `${said} (${why})`;
  if (error.code === "conflict") return new StartError(`${refused}: ${reason}`, { cause: error });
  const isFull = error.code === "no_space";
  const remedy = isFull ? "Free some space" : "Fix this";
  const what = isFull ? "The target has no space left: " : "";
  return new StartError(`${what}${reason}. ${remedy}. ${resume}`, { cause: error });
}
