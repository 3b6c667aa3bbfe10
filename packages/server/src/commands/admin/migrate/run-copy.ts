import type { MigrateOptions } from "@outrigger/core";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { showProgress } from "../show-progress.ts";
import { migrationError } from "./migration-error.ts";

/** A copy between storages that is under way. */
export interface RunningCopy {
  /** For the function that copies. */
  options: Required<Pick<MigrateOptions, "signal" | "onProgress">>;
  /** Shows no more progress: to be called before the result is printed. */
  end(): void;
}

const SIGNAL_EXIT = 130;

/**
 * Runs a copy that shows its progress, until it is done or a signal ends it.
 * @param refused What to say of a copy that must not be made, e.g. `Nothing was copied`.
 */
export async function runCopy(
  isQuiet: boolean,
  refused: string,
  work: (running: RunningCopy) => Promise<void>,
): Promise<void> {
  const interrupted = listenForSignals();
  const view = isQuiet ? null : showProgress();
  try {
    await work({
      options: { signal: interrupted.signal, onProgress: (progress) => view?.update(progress) },
      end: () => view?.close(),
    });
  } catch (error) {
    view?.close();
    if (!interrupted.signal.aborted) throw migrationError(error, refused);
    process.stderr.write("outrigger: Stopped. Run the same command again, it goes on where it was\n");
    process.exitCode = SIGNAL_EXIT;
  } finally {
    view?.close();
    interrupted.end();
  }
}
