import { note } from "./print.ts";

/** Exit code after a signal. */
export const SIGNAL_EXIT = 130;
/** A second signal within this time is a duplicate: npx forwards the signal that the terminal has already sent. */
const SAME_WITHIN_MS = 500;

/**
 * Runs work that a signal interrupts: the first SIGINT or SIGTERM aborts `signal`, a later one ends the process. If the
 * work ends without its result, the exit code is 130.
 * @param resume The next step after an interruption, as a sentence. @default none
 */
export async function untilInterrupted(
  work: (signal: AbortSignal) => Promise<void>,
  resume?: () => string,
): Promise<void> {
  const controller = new AbortController();
  let abortedAt = Number.POSITIVE_INFINITY;
  const onSignal = () => {
    if (performance.now() - abortedAt > SAME_WITHIN_MS) process.exit(SIGNAL_EXIT);
    if (controller.signal.aborted) return;
    abortedAt = performance.now();
    controller.abort();
    if (resume === undefined) return;
    note("Stopping after the work in progress; a second signal stops it at once");
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    await work(controller.signal);
    return;
  } catch (error) {
    // After an abort, the error is a result of the abort.
    if (!controller.signal.aborted) throw error;
  } finally {
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
  note(`Stopped${resume === undefined ? "" : resume()}`);
  process.exitCode = SIGNAL_EXIT;
}
