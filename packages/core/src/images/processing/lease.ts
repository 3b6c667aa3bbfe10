import { startHeartbeat } from "../../async/heartbeat.ts";
import { createInTurn } from "../../async/in-turn.ts";
import { isServiceError } from "../../errors.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { HEARTBEAT_MS, LEASE_MS } from "./transitions.ts";

/** Thrown when another process holds the lease, or when the image was deleted. */
export class LeaseLost extends Error {
  constructor() {
    super("The lease was lost");
    this.name = "LeaseLost";
  }
}

/** The exclusive right to process an image and to change its record. */
export interface Lease {
  /** The record as last written by this holder. */
  readonly record: ImageRecord;
  /** Extends the lease. Rejects with {@link LeaseLost}. */
  renew(): Promise<void>;
  /** Ends the lease with a last change of the record, and resolves to the new record. Rejects with {@link LeaseLost}. */
  end(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord>;
}

/**
 * Holds the lease just written with `current`, and renews it until it ends or is lost.
 * @param controller Aborted when a heartbeat finds the lease lost.
 */
export function holdLease(
  { records, settings }: Pick<ProcessingContext, "records" | "settings">,
  current: CurrentRecord,
  controller: AbortController,
): Lease {
  let held = current;
  let isLost = false;
  // Each write is a compare-and-set against the previous write.
  const inTurn = createInTurn();
  const stop = startHeartbeat(HEARTBEAT_MS, renew, (error) => {
    if (error instanceof LeaseLost) controller.abort(error);
    else settings.onError(error);
  });

  async function write(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord> {
    if (isLost) throw new LeaseLost();
    try {
      held = await records.replace(held, change(held.record));
      return held.record;
    } catch (error) {
      if (!isServiceError(error, "conflict")) throw error;
      isLost = true;
      stop();
      throw new LeaseLost();
    }
  }

  async function renew(): Promise<void> {
    await inTurn(() =>
      write((record) => ({
        ...record,
        processing: record.processing && { ...record.processing, leaseUntil: settings.now() + LEASE_MS },
      })),
    );
  }

  return {
    get record() {
      return held.record;
    },
    renew,
    end(change) {
      stop();
      return inTurn(() => write(change));
    },
  };
}
