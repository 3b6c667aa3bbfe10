const SIGNAL_EXIT = 130;
/** What comes so soon after the first signal is the same one: npx passes on what the terminal has sent already. */
const SAME_WITHIN_MS = 500;

/**
 * Runs work that ends at once after Ctrl-C: the first SIGINT or SIGTERM aborts the signal, a later one ends the
 * process. However the work ends after that, the exit code is 130.
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
    // What failed after it was told to stop failed because of that.
    if (!controller.signal.aborted) throw error;
  } finally {
    for (const signal of signals) process.removeListener(signal, onSignal);
  }
  if (!controller.signal.aborted) return;
  process.stderr.write("outrigger: Stopped\n");
  process.exitCode = SIGNAL_EXIT;
}
