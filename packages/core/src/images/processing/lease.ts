import { Hold } from "../../async/hold.ts";
import { isServiceError } from "../../errors.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ProcessingContext } from "./processing-context.ts";
import { LEASE_MS } from "./transitions.ts";

/** Thrown when another process holds the lease, or when the image was deleted. */
export class LeaseLost extends Error {
  constructor() {
    super("The lease was lost");
    this.name = "LeaseLost";
  }
}

/** The exclusive right to process an image and to change its record. Each write is a compare-and-set against the last. */
export class RecordLease {
  readonly #context: Pick<ProcessingContext, "records" | "settings">;
  readonly #hold: Hold;
  #current: CurrentRecord;

  /**
   * Holds the lease just written with `current`, and renews it until it ends or is lost.
   * @param controller Aborted when the lease is found lost.
   */
  constructor(
    context: Pick<ProcessingContext, "records" | "settings">,
    current: CurrentRecord,
    controller: AbortController,
  ) {
    const { now, onError } = context.settings;
    this.#context = context;
    this.#current = current;
    const extended = (record: ImageRecord): ImageRecord => ({
      ...record,
      processing: record.processing && { ...record.processing, leaseUntil: now() + LEASE_MS },
    });
    this.#hold = new Hold({
      heldMs: LEASE_MS,
      renew: () => this.#write(extended),
      onLost: () => controller.abort(new LeaseLost()),
      onError,
    });
  }

  /** The record as last written by this holder. */
  get record(): ImageRecord {
    return this.#current.record;
  }

  /** Extends the lease. Rejects with {@link LeaseLost}. */
  async renew(): Promise<void> {
    if (!(await this.#hold.renew())) throw new LeaseLost();
  }

  /** Ends the lease with a last change of the record, and resolves to the new record. Rejects with {@link LeaseLost}. */
  async end(change: (record: ImageRecord) => ImageRecord): Promise<ImageRecord> {
    if (!(await this.#hold.end(() => this.#write(change)))) throw new LeaseLost();
    return this.record;
  }

  /** @returns whether the record was as this holder wrote it last. */
  async #write(change: (record: ImageRecord) => ImageRecord): Promise<boolean> {
    try {
      this.#current = await this.#context.records.replace(this.#current, change(this.record));
      return true;
    } catch (error) {
      if (isServiceError(error, "conflict")) return false;
      throw error;
    }
  }
}
