import { isServiceError } from "@outrigger/core";
import type { Filled } from "@outrigger/core/stores";
import type { StorageRunOptions, StorageTrouble } from "@outrigger/ops";
import { reasonOf } from "../../../cli/error-reason.ts";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { printable } from "../../../cli/printable.ts";
import { StartError } from "../../../config/config-error.ts";
import { showCopy } from "../show-progress.ts";

/** Options of every command that runs over a storage. */
export interface JobFlags {
  concurrency?: number;
  json?: boolean;
  quiet?: boolean;
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

const SIGNAL_EXIT = 130;

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
  { concurrency, json = false, quiet = false }: JobFlags,
  { refused, resume }: JobWords,
  work: (options: Partial<Filled<StorageRunOptions>>) => Promise<JobOutcome>,
): Promise<void> {
  // If the reader has ended, the exit code still reports failures.
  process.stdout.on("error", () => {});
  const interrupted = listenForSignals();
  const view = quiet ? null : showCopy(json);
  const beganAt = performance.now();
  try {
    const outcome = await work({
      signal: interrupted.signal,
      onProgress: (progress) => view?.update(progress),
      ...(concurrency === undefined ? {} : { concurrency }),
    });
    view?.close();
    printOutcome(outcome, performance.now() - beganAt, json);
  } catch (error) {
    view?.close();
    if (!interrupted.signal.aborted) throw jobError(error, { refused, resume });
    process.stderr.write(`outrigger: Stopped. ${resume}\n`);
    process.exitCode = SIGNAL_EXIT;
  } finally {
    interrupted.end();
  }
}

function printOutcome(outcome: JobOutcome, ms: number, json: boolean): void {
  for (const [what, troubles] of Object.entries(outcome.troubles)) {
    for (const { key, reason } of troubles) note(`${what}: ${printable(key)}: ${printable(reason)}`);
  }
  for (const each of outcome.notes) note(each);
  if (json) process.stdout.write(`${JSON.stringify({ ...outcome.report, ms: Math.round(ms) })}\n`);
  else {
    const lines = outcome.lines(Math.max(0.001, ms / 1000));
    process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    if (outcome.failure !== null) note(outcome.failure);
  }
  if (!outcome.isWhole) process.exitCode = 1;
}

/** Writes a sentence to standard error. */
export function note(text: string): void {
  process.stderr.write(`outrigger: ${text}\n`);
}

/** Why a job stopped, with the remedy. Other errors are returned unchanged. */
function jobError(error: unknown, { refused, resume }: JobWords): unknown {
  if (!isServiceError(error)) return error;
  const said = error.message.replace(/\.$/, "");
  const why = reasonOf(error).replace(/\.$/, "");
  const reason = said === why ? said : `${said} (${why})`;
  if (error.code === "conflict") return new StartError(`${refused}: ${reason}`, { cause: error });
  const what = error.code === "no_space" ? "The target has no space left: " : "";
  const remedy = error.code === "no_space" ? "Free some space" : "Fix this";
  return new StartError(`${what}${reason}. ${remedy}. ${resume}`, { cause: error });
}
