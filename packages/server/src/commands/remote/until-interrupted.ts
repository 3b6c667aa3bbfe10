const SIGNAL_EXIT = 130;
/** A second signal within this time is a duplicate: npx forwards the signal that the terminal has already sent. */
const SAME_WITHIN_MS = 500;

/**
 * Runs work that Ctrl-C interrupts: the first SIGINT or SIGTERM aborts the signal, a later one ends the process. After an
 * abort the exit code is always 130.
 */
export async function untilInterrupted(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController();
  let abortedAt = 0;
  const onSignal = () => {
    const now = performance.now();
    if (controller.signal.aborted && now - abortedAt > SAME_WITHIN_MS) process.exit(SIGNAL_EXIT);
    if (controller.signal.aborted) return;
    abortedAt = now;
    controller.abort();
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    await work(controller.signal);
  } catch (error) {
    // After an abort, the error is a result of the abort.
    if (!controller.signal.aborted) throw error;
  } finally {
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
  if (!controller.signal.aborted) return;
  process.stderr.write("outrigger: Stopped\n");
  process.exitCode = SIGNAL_EXIT;
}
