/** Runs one piece of work per key for any number of simultaneous callers. */
export interface SingleFlight<T> {
  /**
   * Joins the work in progress for `key`, or starts it. A caller whose signal aborts leaves alone. When the
   * last caller has left, the signal of the work aborts.
   */
  join(key: string, work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface Flight<T> {
  result: Promise<T>;
  callers: number;
  abort: AbortController;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  function start(key: string, work: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const abort = new AbortController();
    const flight: Flight<T> = { result: work(abort.signal), callers: 0, abort };
    flights.set(key, flight);
    const forget = () => {
      if (flights.get(key) === flight) flights.delete(key);
    };
    flight.result.then(forget, forget);
    return flight;
  }

  return {
    async join(key, work, signal) {
      signal.throwIfAborted();
      const flight = flights.get(key) ?? start(key, work);
      flight.callers++;
      let leave: (() => void) | undefined;
      const left = new Promise<never>((_, reject) => {
        leave = () => reject(signal.reason);
        signal.addEventListener("abort", leave, { once: true });
      });
      try {
        return await Promise.race([flight.result, left]);
      } finally {
        if (leave !== undefined) signal.removeEventListener("abort", leave);
        flight.callers--;
        if (flight.callers === 0) {
          // No caller may join aborted work.
          if (flights.get(key) === flight) flights.delete(key);
          flight.abort.abort(signal.reason ?? new Error("Every caller has left"));
        }
      }
    },
  };
}
