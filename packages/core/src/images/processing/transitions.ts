import type { Admission } from "../../contracts/renderer.ts";
import type { ImageRecord, Processing } from "../record/image-record.ts";

/** A lease that is not renewed ends after this time; its holder is then presumed dead. */
export const LEASE_MS = 15_000;
/** A lease holder renews its lease this often. */
export const HEARTBEAT_MS = 5_000;
/** After this many lease holders died over a file, it is not retried. */
const MAX_TRIES = 3;
/** Clocks of machines that share a store differ by less. */
const MAX_SKEW_MS = 60_000;

/** The failure of a file that is not retried. */
export const PARKED_REASON = `This file could not be processed in ${MAX_TRIES} tries.`;

/** Work without a lease holder. */
export function unclaimed(now: number): Processing {
  return { tries: 0, leaseUntil: now, worker: null };
}

/** Work that `worker` holds. A worker that takes its own lease again is alive, so its last try does not count. */
export function claimed(before: Processing, worker: string, now: number): Processing {
  const tries = before.worker === worker ? before.tries : before.tries + 1;
  return { tries, leaseUntil: now + LEASE_MS, worker };
}

/** Whether another worker may hold the work now. */
export function isClaimed({ leaseUntil }: Processing, now: number): boolean {
  // An end beyond that of any lease was written before the clock was set back.
  return leaseUntil > now && leaseUntil <= now + LEASE_MS + MAX_SKEW_MS;
}

/** Whether work whose lease has run out must not be retried. */
export function isExhausted({ tries, worker }: Processing, candidate: string): boolean {
  return tries >= MAX_TRIES && worker !== candidate;
}

/** The released lease. A try that failed for a reason outside of the file does not count. */
export function released(before: Processing, wasTry: boolean, now: number): Processing {
  return { tries: wasTry ? before.tries : before.tries - 1, leaseUntil: now, worker: null };
}

/** The record of an image that is ready to be served. */
export function readyRecord(record: ImageRecord, admission: Admission, now: number): ImageRecord {
  const { width, height, pages, pageSizes, cleaned } = admission;
  return {
    ...record,
    ...(cleaned ?? {}),
    width,
    height,
    pages,
    ...(pageSizes === undefined ? {} : { pageSizes }),
    processing: null,
    updatedAt: later(record, now),
  };
}

/** The record of an upload that was rejected after its 202. */
export function failedRecord(record: ImageRecord, reason: string, now: number): ImageRecord {
  return { ...record, processing: null, failure: reason, updatedAt: later(record, now) };
}

/** Never before the last change, also when the clock is set back. */
function later({ updatedAt }: ImageRecord, now: number): number {
  return Math.max(updatedAt, now);
}
