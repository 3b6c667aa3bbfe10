import { setTimeout as delay } from "node:timers/promises";
import { Hold } from "../../async/hold.ts";
import { isSettledWithin } from "../../async/settled-within.ts";
import type { LeaseStore } from "../../contracts/lease-store.ts";
import { HttpProblem } from "../../http/problem.ts";

/** A lease that is not renewed expires after this time; its holder is then presumed dead. */
const LEASE_MS = 10_000;
/** How long a request that another one waits for may go on, so that two clients both make progress. */
const DRAIN_MS = 1_000;
/** How long a request waits for another that uses the upload. */
const PATIENCE_MS = 5_000;
const PAUSE_MS = 250;

/** The refusal while another request uses an upload. A client of tus tries again after 423, without a new upload. */
export function lockedUpload(): HttpProblem {
  return new HttpProblem({
    status: 423,
    detail: "Another request is using this upload. Try again in 2 seconds.",
    headers: { "Retry-After": "2" },
  });
}

/**
 * Locks of uploads: one request at a time uses one. In this process a new request soon interrupts the one before, which often hangs on
 * a dead connection. Between processes, the leases of the store decide, if it has any.
 */
export class UploadLocks {
  readonly #leases: () => Promise<LeaseStore | null>;
  readonly #onError: (error: unknown) => void;
  readonly #holders = new Map<string, { interrupt: AbortController; work: Promise<unknown> }>();

  constructor(leases: () => Promise<LeaseStore | null>, onError: (error: unknown) => void) {
    this.#leases = leases;
    this.#onError = onError;
  }

  /** Runs work under the lock of an upload. Rejects with 423 if it stays locked. @param work Gets the signal that interrupts it. */
  async run<T>(key: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
    const deadline = performance.now() + PATIENCE_MS;
    for (let holder = this.#holders.get(key); holder !== undefined; holder = this.#holders.get(key)) {
      if (!(await isSettledWithin(holder.work, DRAIN_MS))) holder.interrupt.abort();
      if (!(await isSettledWithin(holder.work, deadline - performance.now()))) throw lockedUpload();
    }
    const interrupt = new AbortController();
    const leased = this.#withLease(`resumable/${key}`, deadline, interrupt, work);
    this.#holders.set(key, { interrupt, work: leased });
    try {
      return await leased;
    } finally {
      this.#holders.delete(key);
    }
  }

  async #withLease<T>(
    key: string,
    deadline: number,
    interrupt: AbortController,
    work: (interrupted: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const leases = await this.#leases();
    if (leases === null) return work(interrupt.signal);
    let proof = await leases.acquireLease(key, LEASE_MS);
    while (proof === null) {
      if (performance.now() > deadline) throw lockedUpload();
      await delay(PAUSE_MS);
      proof = await leases.acquireLease(key, LEASE_MS);
    }
    const held = proof;
    const onError = this.#onError;
    const renew = () => leases.renewLease(key, held, LEASE_MS);
    const hold = new Hold({ heldMs: LEASE_MS, renew, onLost: () => interrupt.abort(), onError });
    try {
      return await work(interrupt.signal);
    } finally {
      // A lease that cannot be released expires.
      await hold.end(() => leases.releaseLease(key, held).then(() => true)).catch(onError);
    }
  }
}
