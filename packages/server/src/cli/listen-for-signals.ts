/** The signals that end a command. */
export interface Interruption {
  /** Aborts at the first one. */
  signal: AbortSignal;
  /** Listens no more. */
  end(): void;
}

/** A first signal aborts, a second one ends the process. */
export function listenForSignals(): Interruption {
  const controller = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const end = () => {
    for (const signal of signals) process.removeListener(signal, onSignal);
  };
  const onSignal = () => {
    end();
    process.stderr.write("outrigger: Stopping after what is under way; a second signal ends it at once\n");
    controller.abort();
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { signal: controller.signal, end };
}
