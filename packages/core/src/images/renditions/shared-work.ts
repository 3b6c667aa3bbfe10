import { setTimeout as delay } from "node:timers/promises";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import { ServiceError } from "../../errors.ts";

/** What one process makes for all that share a store. */
export interface SharedTask<T> {
  /** Whether it is there by now. Rejects where it is known that it cannot be made. */
  isDone(): Promise<boolean>;
  /** Makes it. */
  work(): Promise<Made<T>>;
}

export interface Made<T> {
  value: T;
  /** Resolves when others can find it, or never will. Never rejects. */
  stored: Promise<void>;
}

export interface SharedWork {
  /**
   * Does the task, unless another process does: then waits for that, and takes over from one that died.
   * @returns what was made here; `null` where it is there by now.
   * Rejects as the task does, with `overloaded` when others take too long, and with the signal's reason.
   */
  once<T>(key: string, task: SharedTask<T>, signal: AbortSignal): Promise<T | null>;
  /** Waits until every lease is given back. */
  close(): Promise<void>;
}

/** A lease that nobody renews ends after this time; its holder is then taken for dead. */
const LEASE_MS = 10_000;
const HEARTBEAT_MS = 3_000;
const PATIENCE_MS = 30_000;
/** Pauses between two looks: quick pictures are found soon, slow ones do not cost much. */
const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

export interface SharedWorkOptions {
  /** The leases, asked for by every task. `null`: no other process is waited for. Rejects while that cannot be told. */
  leases(): Promise<LeaseStore | null>;
  /** Told of leases that could be neither renewed nor given back, and run out. */
  onError(error: unknown): void;
  /** How long to wait for other processes before the client is told to come back; milliseconds. @default 30000 */
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
    // One that cannot be renewed may be taken over: then the work is done twice, and harms nobody.
    const renew = () => void leases.renewLease(key, proof, LEASE_MS).catch(onError);
    const heartbeat = setInterval(renew, HEARTBEAT_MS).unref();
    let stored = Promise.resolve();
    try {
      // Whoever held the lease before may have made it since this process looked.
      if (await task.isDone()) return null;
      const made = await task.work();
      stored = made.stored;
      return made.value;
    } finally {
      const release = () => {
        clearInterval(heartbeat);
        // One that cannot be given back runs out.
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

/** A store that no other process makes anything in. */
const NO_LEASES: LeaseStore = {
  acquireLease: async () => "",
  renewLease: async () => true,
  releaseLease: async () => undefined,
};
