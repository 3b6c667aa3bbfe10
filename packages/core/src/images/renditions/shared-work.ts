import { setTimeout as delay } from "node:timers/promises";
import { Hold } from "../../async/hold.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
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

export interface SharedWork {
  /**
   * Performs the task, unless another process is performing it. Then waits for that process, and takes over if it dies.
   * @returns the value made here; `null`: the result is stored.
   * Rejects as the task does, with `overloaded` when other processes take too long, and with the signal's reason.
   */
  once<T>(key: string, task: SharedTask<T>, signal: AbortSignal): Promise<T | null>;
  /** Waits until every lease is released. */
  close(): Promise<void>;
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
}

export function createSharedWork({
  leases: leasesInUse,
  onError,
  patienceMs = PATIENCE_MS,
}: SharedWorkOptions): SharedWork {
  const held = new Set<Promise<unknown>>();

  async function hold<T>(
    leases: LeaseStore,
    key: string,
    proof: string,
    task: SharedTask<T>,
  ): Promise<T | null> {
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
        .finally(() => held.delete(released));
      held.add(released);
    }
  }

  return {
    async once(key, task, signal) {
      const deadline = performance.now() + patienceMs;
      for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.5)) {
        signal.throwIfAborted();
        const leases = (await leasesInUse()) ?? NO_LEASES;
        const proof = await leases.acquireLease(key, LEASE_MS);
        if (proof !== null) return hold(leases, key, proof, task);
        if (await task.isDone()) return null;
        if (performance.now() >= deadline) {
          throw new ServiceError(
            "overloaded",
            "Another process is still rendering this picture; try again in 2 seconds",
            {
              retryAfterMs: 2_000,
            },
          );
        }
        await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
      }
    },
    async close() {
      await Promise.all(held);
    },
  };
}

/** Leases for a store that no other process shares. */
const NO_LEASES: LeaseStore = {
  acquireLease: async () => "",
  renewLease: async () => true,
  releaseLease: async () => undefined,
};
