import type { Admission } from "../../contracts/renderer.ts";
import type { ImageRecord, Processing } from "../record/image-record.ts";

/** A lease that nobody renews ends after this time; its holder is then taken for dead. */
export const LEASE_MS = 15_000;
/** Who holds a lease renews it this often. */
export const HEARTBEAT_MS = 5_000;
/** A file over which so many holders of its lease died is not tried again. */
const MAX_TRIES = 3;
/** Clocks of machines that share a store differ by less. */
const MAX_SKEW_MS = 60_000;

/** Said of a file that is not tried again. */
export const PARKED_REASON = `This file could not be processed in ${MAX_TRIES} tries.`;

/** Work that anybody may take at once. */
export function unclaimed(now: number): Processing {
  return { tries: 0, leaseUntil: now, worker: null };
}

/** Work in the hands of `worker`. One that takes its own lease again is alive, so that the last try was none. */
export function claimed(before: Processing, worker: string, now: number): Processing {
  const tries = before.worker === worker ? before.tries : before.tries + 1;
  return { tries, leaseUntil: now + LEASE_MS, worker };
}

/** Whether the work may not be taken now. */
export function isClaimed({ leaseUntil }: Processing, now: number): boolean {
  // One that ends later than any lease does was written before the clock was set back.
  return leaseUntil > now && leaseUntil <= now + LEASE_MS + MAX_SKEW_MS;
}

/** Whether work whose lease has run out may be tried no more. */
export function isExhausted({ tries, worker }: Processing, candidate: string): boolean {
  return tries >= MAX_TRIES && worker !== candidate;
}

/** The lease given back. A try that brought no verdict for no fault of the file's is none. */
export function released(before: Processing, wasTry: boolean, now: number): Processing {
  return { tries: wasTry ? before.tries : before.tries - 1, leaseUntil: now, worker: null };
}

/** The record of an image that can be served from now on. */
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

/** The record of an upload that was refused after all. */
export function failedRecord(record: ImageRecord, reason: string, now: number): ImageRecord {
  return { ...record, processing: null, failure: reason, updatedAt: later(record, now) };
}

/** Never before the last change, also when the clock is set back. */
function later({ updatedAt }: ImageRecord, now: number): number {
  return Math.max(updatedAt, now);
}
