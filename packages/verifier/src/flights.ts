import { abortable } from "@outrigger/core/stores";

/** The result of shared work, or its progress when the caller's signal aborted. */
export type Landing<Progress, Result> = { result: Result } | { progress: Progress };

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

/** Single flight: concurrent callers with the same key share one piece of work. */
export class Flights<Progress, Result> {
  readonly #byKey = new Map<string, Flight<Progress, Result>>();
  readonly #running = new Set<Flight<Progress, Result>>();

  /**
   * Joins the work under way for `key`, or starts it. When `signal` aborts, the caller gets the current `progress`
   * at once. The work is aborted when all its callers have left.
   */
  async join(
    key: string,
    signal: AbortSignal,
    begin: () => Work<Progress, Result>,
  ): Promise<Landing<Progress, Result>> {
    const flight = this.#byKey.get(key) ?? this.#start(key, begin());
    flight.passengers += 1;
    try {
      return { result: await abortable(flight.result, signal) };
    } catch (error) {
      if (!signal.aborted) throw error;
      return { progress: flight.progress() };
    } finally {
      flight.passengers -= 1;
      if (flight.passengers === 0) {
        // The next caller starts new work instead of joining aborted work.
        if (this.#byKey.get(key) === flight) this.#byKey.delete(key);
        flight.controller.abort();
      }
    }
  }

  /** Aborts all work and resolves when it has ended. */
  async close(): Promise<void> {
    const flights = [...this.#running];
    for (const { controller } of flights) controller.abort();
    await Promise.allSettled(flights.map(({ result }) => result));
  }

  #start(key: string, { progress, run }: Work<Progress, Result>): Flight<Progress, Result> {
    const controller = new AbortController();
    const flight = { passengers: 0, controller, progress, result: run(controller.signal) };
    const end = () => {
      this.#running.delete(flight);
      if (this.#byKey.get(key) === flight) this.#byKey.delete(key);
    };
    flight.result.then(end, end);
    this.#running.add(flight);
    this.#byKey.set(key, flight);
    return flight;
  }
}
