import { setTimeout as delay } from "node:timers/promises";
import { startHeartbeat } from "../../async/heartbeat.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import { ServiceError } from "../../errors.ts";

/** Something that one process makes for all that share a store. */
export interface SharedTask<T> {
  /** Whether it is there by now. Rejects if it is known that it cannot be made. */
  isDone(): Promise<boolean>;
  /** Makes it. */
  work(): Promise<Made<T>>;
}

export interface Made<T> {
  value: T;
  /** Resolves when other processes can find it, or never will. Never rejects. */
  stored: Promise<void>;
}

export interface SharedWork {
  /**
   * Does the task, unless another process is at it: then waits for that, and does the task itself if the other dies.
   * @returns what was made here; `null`: it is there by now.
   * Rejects as the task does, with `overloaded` when other processes take too long, and with the signal's reason.
   */
  once<T>(key: string, task: SharedTask<T>, signal: AbortSignal): Promise<T | null>;
  /** Waits until every lease is released. */
  close(): Promise<void>;
}

/** A lease that is not renewed ends after this time; its holder is then presumed dead. */
const LEASE_MS = 10_000;
const HEARTBEAT_MS = 3_000;
const PATIENCE_MS = 30_000;
/** Pauses between two polls: quick pictures are found soon, slow ones cost little. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

export interface SharedWorkOptions {
  /** The leases, requested by every task. `null`: waits for no other process. Rejects while that is unknown. */
  leases(): Promise<LeaseStore | null>;
  /** Gets errors of leases that could not be renewed or released, and run out. */
  onError(error: unknown): void;
  /** How long to wait for other processes before a task rejects with `overloaded`; milliseconds. @default 30000 */
  patienceMs?: number;
}

export function createSharedWork({
  leases: leasesInUse,
  onError,
  patienceMs = PATIENCE_MS,
}: SharedWorkOptions): SharedWork {
  const held = new Set<Promise<void>>();

  async function hold<T>(
    leases: LeaseStore,
    key: string,
    proof: string,
    task: SharedTask<T>,
  ): Promise<T | null> {
    // If a renewal fails, another process may acquire the lease: the work is then done twice, without harm.
    const stop = startHeartbeat(HEARTBEAT_MS, () => leases.renewLease(key, proof, LEASE_MS), onError);
    let stored = Promise.resolve();
    try {
      // An earlier lease holder may have made it since the last check.
      if (await task.isDone()) return null;
      const made = await task.work();
      stored = made.stored;
      return made.value;
    } finally {
      const release = () => {
        stop();
        // A lease that cannot be released runs out.
        return leases.releaseLease(key, proof).catch(onError);
      };
      const released = stored.then(release).finally(() => held.delete(released));
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
          throw new ServiceError("overloaded", "This picture is being made, which takes long", {
            retryAfterMs: 2_000,
          });
        }
        await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
      }
    },
    async close() {
      await Promise.all(held);
    },
  };
}

/** For a store that no other process shares. */
const NO_LEASES: LeaseStore = {
  acquireLease: async () => "",
  renewLease: async () => true,
  releaseLease: async () => undefined,
};
