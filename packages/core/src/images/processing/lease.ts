import { Hold } from "../../async/hold.ts";
import type { Admission } from "../../contracts/renderer.ts";
import { onCode } from "../../errors.ts";
import type { ImageRecord, Processing } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { ProcessingContext } from "./processing-context.ts";

/** A lease that is not renewed expires after this time; its holder is then presumed dead. */
export const LEASE_MS = 15_000;
/** An upload without a record after this time was orphaned by a crash before its reply; the sweeper deletes it. */
export const ORPHAN_MS = 15 * 60_000;
/** A file is not retried after this many lease holders died while processing it. */
const MAX_TRIES = 3;
/** Most clock difference between machines that share a store. */
const MAX_SKEW_MS = 60_000;

/** Reason in the record of a file that is no longer retried. */
export const PARKED_REASON = `This file could not be processed in ${MAX_TRIES} tries.`;

/** The state of work without a lease holder. */
export function unclaimed(now: number): Processing {
  return { tries: 0, leaseUntil: now, worker: null };
}

/** The state of work leased by `worker`. A worker that reclaims its own lease is alive, so its last try does not count. */
export function claimed(before: Processing, worker: string, now: number): Processing {
  const tries = before.worker === worker ? before.tries : before.tries + 1;
  return { ...before, tries, leaseUntil: now + LEASE_MS, worker };
}

/** Whether a worker may hold the lease now. */
export function isClaimed({ leaseUntil }: Processing, now: number): boolean {
  // A time beyond the longest lease was written before the clock was set back.
  return leaseUntil > now && leaseUntil <= now + LEASE_MS + MAX_SKEW_MS;
}

/** Whether work with an expired lease must not be retried. */
export function isExhausted({ tries, worker }: Processing, candidate: string): boolean {
  return tries >= MAX_TRIES && worker !== candidate;
}

/** The state after the release of a lease. A try that failed for an external reason does not count. */
export function released(before: Processing, wasTry: boolean, now: number): Processing {
  return { ...before, tries: wasTry ? before.tries : before.tries - 1, leaseUntil: now, worker: null };
}

/** An admission after the host's inspection. */
export interface InspectedAdmission extends Admission {
  /** The image is held. Absent: it is not. */
  isHeld?: true;
}

/** The record of a processed image: ready, or held. */
export function readyRecord(record: ImageRecord, admission: InspectedAdmission, now: number): ImageRecord {
  const { width, height, pages, pageSizes, placeholder, color, alpha, cleaned, type, warnings } = admission;
  // Fields of a host's own renderer that no record has are left out.
  return {
    ...record,
    ...(cleaned ?? {}),
    ...(cleaned === null || cleaned.sha256 === record.sha256 ? {} : { sourceSha256: record.sha256 }),
    ...(type === undefined ? {} : { type }),
    ...(warnings === undefined ? {} : { warnings }),
    ...(admission.provenance === true ? { provenance: true } : {}),
    width,
    height,
    pages,
    ...(pageSizes === undefined ? {} : { pageSizes }),
    ...(placeholder === undefined ? {} : { placeholder }),
    ...(color === undefined ? {} : { color }),
    ...(alpha === undefined ? {} : { alpha }),
    processing: null,
    ...(admission.isHeld ? { held: { since: now } } : {}),
    updatedAt: later(record, now),
  };
}

/** The record of an upload rejected after its 202. */
export function failedRecord(record: ImageRecord, reason: string, now: number): ImageRecord {
  return { ...record, processing: null, failure: reason, updatedAt: later(record, now) };
}

/** The current time, but never before the last change, even if the clock was set back. */
function later({ updatedAt }: ImageRecord, now: number): number {
  return Math.max(updatedAt, now);
}

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
    const { records } = this.#context;
    const written = await records.replace(this.#current, change(this.record)).catch(onCode("conflict", null));
    if (written !== null) this.#current = written;
    return written !== null;
  }
}
