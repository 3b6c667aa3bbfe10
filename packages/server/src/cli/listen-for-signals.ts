/** The signals that end a command. */
export interface Interruption {
  /** Aborts at the first signal. */
  signal: AbortSignal;
  /** Stops listening. */
  end(): void;
}

/** The first signal aborts; the second ends the process. */
export function listenForSignals(): Interruption {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const end = () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
  const onSignal = () => {
    end();
    process.stderr.write(
      "outrigger: Stopping after the work in progress; a second signal stops it at once\n",
    );
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { signal: controller.signal, end };
}
