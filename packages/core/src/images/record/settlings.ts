import { LRUCache } from "lru-cache";
import type { ImageRecord } from "./image-record.ts";
import { MAX_READ_LEASE_MS, type ReadLeases } from "./read-leases.ts";
import { shownRevision } from "./shown-revision.ts";

const MAX_WAITS = 5_000;
/** Processes may serve the earlier state for this time after a change: a lease, and what their clocks may differ by. */
const SETTLED_MS = MAX_READ_LEASE_MS + 50_000;

/** The wait for the read leases on the states before a revision, from when this process first saw it. */
interface Settling {
  revision: string;
  done: Promise<void>;
  isOver: boolean;
}

/** The waits for read leases on earlier states of images. */
export class Settlings {
  readonly #leases: ReadLeases;
  readonly #waits = new LRUCache<string, Settling>({ max: MAX_WAITS });

  constructor(leases: ReadLeases) {
    this.#leases = leases;
  }

  /** Whether no process serves an earlier state of the image any more. */
  isOver(record: ImageRecord): boolean {
    const { id, shownUntil } = record;
    if (shownUntil === undefined || this.#leases.now().unixMs - shownUntil >= SETTLED_MS) return true;
    const known = this.#waits.get(id);
    return known?.revision === shownRevision(record) && known.isOver;
  }

  /** Resolves when {@link isOver}. One wait for all callers. */
  wait(record: ImageRecord): Promise<void> {
    const { id } = record;
    const revision = shownRevision(record);
    const known = this.#waits.get(id);
    if (known?.revision === revision) return known.done;
    const settling: Settling = {
      revision,
      isOver: false,
      done: this.#leases.outlast().then(() => {
        settling.isOver = true;
      }),
    };
    this.#waits.set(id, settling);
    return settling.done;
  }

  /** Lets the wait for a state count for the next one. */
  carry(from: ImageRecord, to: ImageRecord): void {
    const known = this.#waits.get(from.id);
    if (known?.revision === shownRevision(from)) known.revision = shownRevision(to);
  }
}
