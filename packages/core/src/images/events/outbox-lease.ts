import { randomUUID } from "node:crypto";
import type { Outbox } from "../record/image-record.ts";

/** After this time without a write, another node delivers. Longer than one delivery takes. */
export const LEASE_MS = 30_000;
/** Most clock difference between machines that share a store. */
const MAX_SKEW_MS = 60_000;

/** Which node delivers the events of a record: the record says it, until a time. */
export class OutboxLease {
  readonly #worker = randomUUID();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The outbox with a lease of this process, unless another one has it. */
  taken(outbox: Outbox): Outbox {
    if (this.isOthers(outbox)) return outbox;
    return { ...outbox, worker: this.#worker, leaseUntil: this.#now() + LEASE_MS };
  }

  /** The outbox without a lease of this process. */
  released(outbox: Outbox): Outbox {
    return outbox.worker === this.#worker ? { ...outbox, worker: null, leaseUntil: 0 } : outbox;
  }

  /** Whether another node delivers these events. */
  isOthers({ worker, leaseUntil }: Outbox): boolean {
    const now = this.#now();
    // A time beyond the longest lease was written before the clock was set back.
    return worker !== this.#worker && leaseUntil > now && leaseUntil <= now + LEASE_MS + MAX_SKEW_MS;
  }

  /** Whether the node that delivered these events left them, without a release of its lease. */
  hasDied(outbox: Outbox): boolean {
    return outbox.worker !== null && outbox.worker !== this.#worker && !this.isOthers(outbox);
  }
}
