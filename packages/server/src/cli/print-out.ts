import { reasonOf } from "./error-reason.ts";
import { tellFailure } from "./tell-failure.ts";

/**
 * Writes to the standard output. Nobody may be reading any more, as after `head`: no reason to leave the rest undone. What
 * cannot be written otherwise is told of, and makes the exit code 1.
 */
export function printOut(text: string): void {
  if (process.stdout.listenerCount("error") === 0) process.stdout.on("error", onError);
  process.stdout.write(text);
}

function onError(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") tellFailure(`The standard output cannot be written: ${reasonOf(error)}`);
}
