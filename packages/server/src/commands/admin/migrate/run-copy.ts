import { isServiceError, type MigrateOptions } from "@outrigger/core";
import { reasonOf } from "../../../cli/error-reason.ts";
import { listenForSignals } from "../../../cli/listen-for-signals.ts";
import { StartError } from "../../../config/config-error.ts";
import { showCopy } from "../show-progress.ts";

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
  const view = isQuiet ? null : showCopy();
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

/**
 * Why a copy between storages could not go on, and what to do about it. Other errors are returned unchanged.
 * @param refused Begins the sentence about a copy that must not be made.
 */
export function migrationError(error: unknown, refused: string): unknown {
  if (!isServiceError(error)) return error;
  const said = withReason(error.message, reasonOf(error));
  switch (error.code) {
    case "conflict":
      return new StartError(`${refused}: ${said}`, { cause: error });
    case "no_space":
      return new StartError(
        `The target has no room left: ${said}. Make room and run this again, it goes on where it was`,
        { cause: error },
      );
    default:
      return new StartError(`${said}. Run this again when that is mended, it goes on where it was`, {
        cause: error,
      });
  }
}

function withReason(message: string, reason: string): string {
  const said = message.replace(/\.$/, "");
  const why = reason.replace(/\.$/, "");
  return said === why ? said : `${said} (${why})`;
}
