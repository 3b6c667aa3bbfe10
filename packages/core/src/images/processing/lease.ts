import { isServiceError } from "../../errors.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { HEARTBEAT_MS, LEASE_MS } from "./transitions.ts";

/** The work is somebody else's now, or nobody's: its image was deleted. */
export class LeaseLost extends Error {
  constructor() {
    super("The lease was lost");
    this.name = "LeaseLost";
  }
}

/** The right to work on an image that is being processed, and to change its record. */
export interface Lease {
  /** As this holder last wrote it. */
  readonly record: ImageRecord;
  /** Proves the right and prolongs it. Rejects with {@link LeaseLost}. */
  renew(): Promise<void>;
  /** Ends the right with a last change of the record, which it resolves to. Rejects with {@link LeaseLost}. */
  end(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord>;
}

/**
 * Holds the lease that `current` was just written with, renewing it by itself until it ends or is lost.
 * @param controller is aborted when a heartbeat finds the lease lost.
 */
export function holdLease(
  { records, settings }: Pick<ProcessingContext, "records" | "settings">,
  current: CurrentRecord,
  controller: AbortController,
): Lease {
  let held = current;
  let isLost = false;
  let turn: Promise<unknown> = Promise.resolve();
  const heartbeat = setInterval(() => void beat(), HEARTBEAT_MS);
  // A process that has nothing else to do may end: the lease then runs out.
  heartbeat.unref();

  /** One change after the other: each is compared with the one before. */
  function write(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord> {
    const written = turn.then(() => replace(change));
    turn = written.catch(() => undefined);
    return written;
  }

  async function replace(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord> {
    if (isLost) throw new LeaseLost();
    try {
      held = await records.replace(held, change(held.record));
      return held.record;
    } catch (error) {
      if (!isServiceError(error, "conflict")) throw error;
      isLost = true;
      clearInterval(heartbeat);
      throw new LeaseLost();
    }
  }

  async function renew(): Promise<void> {
    await write((record) => {
      const { processing } = record;
      return processing === null
        ? record
        : { ...record, processing: { ...processing, leaseUntil: settings.now() + LEASE_MS } };
    });
  }

  async function beat(): Promise<void> {
    try {
      await renew();
    } catch (error) {
      if (error instanceof LeaseLost) controller.abort(error);
      // The next beat tries again.
      else settings.onError(error);
    }
  }

  return {
    get record() {
      return held.record;
    },
    renew,
    async end(change) {
      clearInterval(heartbeat);
      return write(change);
    },
  };
}
