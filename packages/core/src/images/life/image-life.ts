import { ServiceError } from "../../errors.ts";
import type { Gone, ImageRecord } from "../record/image-record.ts";

/** Why an upload that was refused is remembered for a while: its client was told to ask again. */
const FAILURE_KEPT_MS = 86_400_000;

/** The rejection for an image of which no record is left. */
export function unknownImage(): ServiceError {
  return new ServiceError("not_found", "There is no such image.");
}

/**
 * Why an image is unavailable at `now`: `not_found` (its processing failed, or its tombstone ended) before `withheld` before
 * `gone`. `null` while it lives.
 * @param tombstoneMs how long the record of an ended image is kept.
 */
export function whyUnavailable(record: ImageRecord, now: number, tombstoneMs: number): ServiceError | null {
  const { failure, withheld } = record;
  // It never came to be, so that it is not gone either.
  if (failure !== null) return new ServiceError("not_found", failure);
  const gone = record.gone ?? dueEnd(record, now);
  if (gone !== null && (gone.why === "withheld" || forgottenFrom(record, gone, tombstoneMs) <= now)) {
    return unknownImage();
  }
  if (withheld !== null) {
    const { reason, authority } = withheld;
    return new ServiceError("withheld", reason, authority === null ? {} : { authority });
  }
  if (gone === null) return null;
  const detail =
    gone.why === "deleted"
      ? "This image was deleted."
      : `This image expired at ${new Date(record.expiresAt).toISOString()}.`;
  return new ServiceError("gone", detail);
}

/** Rejects as {@link whyUnavailable} when nothing of an image will be served ever again. */
export function requireNotOver(
  record: ImageRecord,
  { now, tombstoneMs }: { now(): number; tombstoneMs: number },
): void {
  const nowMs = now();
  const why = isOver(record, nowMs) ? whyUnavailable(record, nowMs, tombstoneMs) : null;
  if (why !== null) throw why;
}

/** Whether nothing of an image will be served ever again. */
export function isOver(record: ImageRecord, now: number): boolean {
  return record.failure !== null || record.gone !== null || dueEnd(record, now) !== null;
}

/** The end that an image's own dates ask for at `now` and that its record does not say yet. */
export function dueEnd(record: ImageRecord, now: number): ImageRecord["gone"] {
  if (record.gone !== null) return null;
  const { expiresAt, withheld } = record;
  const deleteAfter = withheld?.deleteAfter ?? Number.POSITIVE_INFINITY;
  if (deleteAfter <= now) return { at: deleteAfter, why: "withheld" };
  return expiresAt <= now ? { at: expiresAt, why: "expired" } : null;
}

/** When something is to be done about an image next, if nobody does anything about it before. */
export function nextLookAt(record: ImageRecord, tombstoneMs: number): number {
  const { expiresAt, failure, gone, updatedAt, withheld } = record;
  if (failure !== null) return Math.min(expiresAt, updatedAt + FAILURE_KEPT_MS);
  // Also where 404 comes sooner: a restored backup must not bring back what a takedown removed.
  if (gone !== null) return gone.at + tombstoneMs;
  return Math.min(expiresAt, withheld?.deleteAfter ?? expiresAt);
}

/** When nobody needs to know any more that there was an image; one that is withheld may have a date for that. */
function forgottenFrom({ withheld }: ImageRecord, { at, why }: Gone, tombstoneMs: number): number {
  if (why === "withheld") return at;
  return Math.min(at + tombstoneMs, withheld?.deleteAfter ?? Number.POSITIVE_INFINITY);
}

/** Whether the record itself says that nothing of an image will be served ever again, whatever the clock says. */
export function hasEnded({ failure, gone }: ImageRecord): boolean {
  return failure !== null || gone !== null;
}
