import { setTimeout as delay } from "node:timers/promises";
import { Hold } from "../../async/hold.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import type { Observer } from "../../contracts/observer.ts";
import { ServiceError } from "../../errors.ts";

/** A task that one process performs for all processes on the same store. */
export interface SharedTask<T> {
  /** Whether the result is stored. Rejects if the task is known to fail. */
  isDone(): Promise<boolean>;
  /** Performs the task. */
  work(): Promise<Made<T>>;
}

export interface Made<T> {
  value: T;
  /** Resolves when other processes can find the value, or when storing it failed. Never rejects. */
  stored: Promise<void>;
}

/** A lease that is not renewed expires after this time; its holder is then presumed dead. */
const LEASE_MS = 10_000;
const PATIENCE_MS = 30_000;
/** Pauses between polls grow: quick renders are found soon, slow ones cost few polls. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

export interface SharedWorkOptions {
  /** The leases, requested by every task. `null`: no process shares the store. Rejects while that is unknown. */
  leases(): Promise<LeaseStore | null>;
  /** Receives errors of leases that could not be renewed or released. Such leases expire. */
  onError(error: unknown): void;
  /** How long to wait for other processes before a task rejects with `overloaded`; milliseconds. @default 30000 */
  patienceMs?: number;
  /** Receives the waits for other processes. */
  observer?: Observer | undefined;
}

/** Work that one process does for all that share a store, one at a time for each key. */
export class SharedWork {
  readonly #options: SharedWorkOptions;
  readonly #held = new Set<Promise<unknown>>();

  constructor(options: SharedWorkOptions) {
    this.#options = options;
  }

  /**
   * Performs the task, unless another process is performing it. Then waits for that process, and takes over if it dies.
   * @returns the value made here; `null`: the result is stored.
   * Rejects as the task does, with `overloaded` when other processes take too long, and with the signal's reason.
   */
  async once<T>(key: string, task: SharedTask<T>, signal: AbortSignal): Promise<T | null> {
    signal.throwIfAborted();
    const { leases: leasesOf, observer } = this.#options;
    const leases = await leasesOf();
    if (leases === null) return (await task.isDone()) ? null : (await task.work()).value;
    const wait = () => this.#wait(leases, key, task, signal);
    const proof =
      (await leases.acquireLease(key, LEASE_MS)) ??
      (await (observer?.observe({ kind: "wait", for: "rendition_lease" }, wait) ?? wait()));
    return proof === null ? null : this.#work(leases, key, proof, task);
  }

  /** Waits for the holder of a lease. @returns the proof of the lease; `null`: the result is stored. */
  async #wait<T>(
    leases: LeaseStore,
    key: string,
    task: SharedTask<T>,
    signal: AbortSignal,
  ): Promise<string | null> {
    const deadline = performance.now() + (this.#options.patienceMs ?? PATIENCE_MS);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
      if (await task.isDone()) return null;
      if (performance.now() >= deadline) {
        throw new ServiceError(
          "overloaded",
          "Another process is still rendering this picture; try again in 2 seconds",
          { retryAfterMs: 2_000 },
        );
      }
      await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
      const proof = await leases.acquireLease(key, LEASE_MS);
      if (proof !== null) return proof;
    }
  }

  /** Waits until every lease is released. */
  async close(): Promise<void> {
    await Promise.all(this.#held);
  }

  /** Performs a task while it holds the lease, which ends once the result is stored. */
  async #work<T>(leases: LeaseStore, key: string, proof: string, task: SharedTask<T>): Promise<T | null> {
    const { onError } = this.#options;
    // If the lease is lost, another process may acquire it. The work is then done twice, without harm.
    const renew = () => leases.renewLease(key, proof, LEASE_MS);
    const lease = new Hold({ heldMs: LEASE_MS, renew, onError });
    let stored = Promise.resolve();
    try {
      // An earlier lease holder may have finished since the last check.
      if (await task.isDone()) return null;
      const made = await task.work();
      stored = made.stored;
      return made.value;
    } finally {
      const release = async () => {
        await leases.releaseLease(key, proof);
        return true;
      };
      const released: Promise<unknown> = stored
        .then(() => lease.end(release))
        // A lease that cannot be released expires.
        .catch(onError)
        .finally(() => this.#held.delete(released));
      this.#held.add(released);
    }
  }
}

/** The client of a read. */
export interface Reader {
  /** The client that the work counts for: its address (cut as for rate limits), an owner, or the host app. */
  client: string;
  signal: AbortSignal;
}

type FlightWork<T> = (signal: AbortSignal) => Promise<T>;

interface Flight<T> {
  result: Promise<T>;
  callers: number;
  abort: AbortController;
}

/** Runs one render per key for any number of simultaneous readers of this process. */
export class SingleFlight<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * Joins the work in progress for `key`, or starts it. A caller whose signal aborts leaves alone. When the
   * last caller has left, the signal of the work aborts.
   */
  async join(key: string, signal: AbortSignal, work: FlightWork<T>): Promise<T> {
    signal.throwIfAborted();
    const known = this.#flights.get(key);
    const flight = known ?? this.#start(key, work);
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
        this.#forget(key, flight);
        flight.abort.abort(signal.reason ?? new Error("Every caller has left"));
      }
    }
  }

  #start(key: string, work: FlightWork<T>): Flight<T> {
    const abort = new AbortController();
    const flight: Flight<T> = { result: work(abort.signal), callers: 0, abort };
    this.#flights.set(key, flight);
    const forget = () => this.#forget(key, flight);
    flight.result.then(forget, forget);
    return flight;
  }

  #forget(key: string, flight: Flight<T>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
