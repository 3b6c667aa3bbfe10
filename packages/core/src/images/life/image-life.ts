import type { Gone, ImageRecord } from "../record/image-record.ts";

/** How long the reason of a rejected upload is kept: its client polls for it after a 202. */
const FAILURE_KEPT_MS = 86_400_000;

/** The reply for an image that is not available, and why. */
export interface Unavailable {
  status: 404 | 410 | 451;
  /** Written for the client. */
  detail: string;
  /** For 451: URL of the blocking party and its reasons; `null`: not given. */
  authority?: string | null;
}

/**
 * Why an image is not available at `now`: 404 (never existed, or forgotten) before 451 (withheld) before 410 (gone). `null`
 * while it lives.
 * @param tombstoneMs How long the record of a gone image is kept.
 */
export function whyUnavailable(record: ImageRecord, now: number, tombstoneMs: number): Unavailable | null {
  const { failure, withheld } = record;
  // It never existed, so it is not gone.
  if (failure !== null) return { status: 404, detail: failure };
  const gone = record.gone ?? dueEnd(record, now);
  if (gone !== null && (gone.why === "withheld" || forgottenFrom(record, gone, tombstoneMs) <= now)) {
    return { status: 404, detail: "There is no such image." };
  }
  if (withheld !== null) return { status: 451, detail: withheld.reason, authority: withheld.authority };
  if (gone === null) return null;
  const detail =
    gone.why === "deleted"
      ? "This image was deleted."
      : `This image expired at ${new Date(record.expiresAt).toISOString()}.`;
  return { status: 410, detail };
}

/** Whether an image has ended for good by its record or its dates. */
export function isOver(record: ImageRecord, now: number): boolean {
  return record.failure !== null || record.gone !== null || dueEnd(record, now) !== null;
}

/** The end that an image's own dates require at `now` and that its record does not have yet. */
export function dueEnd(record: ImageRecord, now: number): ImageRecord["gone"] {
  if (record.gone !== null) return null;
  const { expiresAt, withheld } = record;
  const deleteAfter = withheld?.deleteAfter ?? Number.POSITIVE_INFINITY;
  if (deleteAfter <= now) return { at: deleteAfter, why: "withheld" };
  return expiresAt <= now ? { at: expiresAt, why: "expired" } : null;
}

/** When an image needs its next sweep, if it does not change before. */
export function nextLookAt(record: ImageRecord, tombstoneMs: number): number {
  const { expiresAt, failure, gone, updatedAt, withheld } = record;
  if (failure !== null) return Math.min(expiresAt, updatedAt + FAILURE_KEPT_MS);
  // Even if 404 comes sooner: a restored backup must not bring back a removed image.
  if (gone !== null) return gone.at + tombstoneMs;
  return Math.min(expiresAt, withheld?.deleteAfter ?? expiresAt);
}

/** When a gone image answers 404. A withheld image may have its own date for that. */
function forgottenFrom({ withheld }: ImageRecord, { at, why }: Gone, tombstoneMs: number): number {
  if (why === "withheld") return at;
  return Math.min(at + tombstoneMs, withheld?.deleteAfter ?? Number.POSITIVE_INFINITY);
}

/** Whether an image has ended for good by its record, independent of the clock. */
export function hasEnded({ failure, gone }: ImageRecord): boolean {
  return failure !== null || gone !== null;
}
