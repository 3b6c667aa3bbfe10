import { isServiceError } from "@outrigger/core";
import type { Filled } from "@outrigger/core/stores";
import type { MigrateOptions } from "@outrigger/ops";
import { reasonOf } from "../../../cli/error-reason.ts";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { StartError } from "../../../config/config-error.ts";
import { showCopy } from "../show-progress.ts";

/** A running copy between stores. */
export interface RunningCopy {
  /** Options for the function that copies. */
  options: Filled<Pick<MigrateOptions, "signal" | "onProgress">>;
  /** Ends the progress display; call it before printing the result. */
  end(): void;
}

const SIGNAL_EXIT = 130;

/**
 * Runs a copy with a progress display until it finishes or a signal ends it.
 * @param refused Start of the message for a rejected copy, e.g. `Nothing was copied`.
 */
export async function runCopy(
  { quiet = false, json = false }: { quiet?: boolean; json?: boolean },
  refused: string,
  work: (running: RunningCopy) => Promise<void>,
): Promise<void> {
  const interrupted = listenForSignals();
  const view = quiet ? null : showCopy(json);
  try {
    await work({
      options: { signal: interrupted.signal, onProgress: (progress) => view?.update(progress) },
      end: () => view?.close(),
    });
  } catch (error) {
    view?.close();
    if (!interrupted.signal.aborted) throw migrationError(error, refused);
    process.stderr.write("outrigger: Stopped. Run the same command again to resume\n");
    process.exitCode = SIGNAL_EXIT;
  } finally {
    view?.close();
    interrupted.end();
  }
}

/**
 * Why a copy between stores stopped, with the remedy. Other errors are returned unchanged.
 * @param refused Start of the message for a rejected copy.
 */
export function migrationError(error: unknown, refused: string): unknown {
  if (!isServiceError(error)) return error;
  const said = withReason(error.message, reasonOf(error));
  switch (error.code) {
    case "conflict":
      return new StartError(`${refused}: ${said}`, { cause: error });
    case "no_space":
      return new StartError(
        `The target has no space left: ${said}. Free some space, then run this again to resume`,
        { cause: error },
      );
    default:
      return new StartError(`${said}. Fix this, then run this again to resume`, {
        cause: error,
      });
  }
}

function withReason(message: string, reason: string): string {
  const said = message.replace(/\.$/, "");
  const why = reason.replace(/\.$/, "");
  return said === why ? said : `${said} (${why})`;
}
