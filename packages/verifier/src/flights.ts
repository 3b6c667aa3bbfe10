/** The result of shared work, or its progress when the caller's signal aborted. */
export type Landing<Progress, Result> = { result: Result } | { progress: Progress };

/** Single flight: concurrent callers with the same key share one piece of work. */
export interface Flights<Progress, Result> {
  /**
   * Joins the work under way for `key`, or starts it. When `signal` aborts, the caller gets the current `progress`
   * at once. The work is aborted when all its callers have left.
   */
  join(
    key: string,
    signal: AbortSignal,
    begin: () => Work<Progress, Result>,
  ): Promise<Landing<Progress, Result>>;
  /** Aborts all work and resolves when it has ended. */
  close(): Promise<void>;
}

export interface Work<Progress, Result> {
  progress(): Progress;
  run(signal: AbortSignal): Promise<Result>;
}

interface Flight<Progress, Result> {
  passengers: number;
  controller: AbortController;
  progress(): Progress;
  result: Promise<Result>;
}

export function createFlights<Progress, Result>(): Flights<Progress, Result> {
  const byKey = new Map<string, Flight<Progress, Result>>();
  const running = new Set<Flight<Progress, Result>>();

  function start(key: string, { progress, run }: Work<Progress, Result>): Flight<Progress, Result> {
    const controller = new AbortController();
    const flight = { passengers: 0, controller, progress, result: run(controller.signal) };
    const end = () => {
      running.delete(flight);
      if (byKey.get(key) === flight) byKey.delete(key);
    };
    flight.result.then(end, end);
    running.add(flight);
    byKey.set(key, flight);
    return flight;
  }

  return {
    async join(key, signal, begin) {
      const flight = byKey.get(key) ?? start(key, begin());
      flight.passengers += 1;
      let leave = () => {};
      const left = new Promise<{ progress: Progress }>((resolve) => {
        leave = () => resolve({ progress: flight.progress() });
      });
      signal.addEventListener("abort", leave);
      if (signal.aborted) leave();
      try {
        return await Promise.race([flight.result.then((result) => ({ result })), left]);
      } finally {
        signal.removeEventListener("abort", leave);
        flight.passengers -= 1;
        if (flight.passengers === 0) {
          // The next caller starts new work instead of joining aborted work.
          if (byKey.get(key) === flight) byKey.delete(key);
          flight.controller.abort();
        }
      }
    },
    async close() {
      const flights = [...running];
      for (const { controller } of flights) controller.abort();
      await Promise.allSettled(flights.map(({ result }) => result));
    },
  };
}
