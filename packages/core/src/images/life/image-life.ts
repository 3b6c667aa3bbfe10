import type { Gone, ImageRecord } from "../record/image-record.ts";

/** Why an upload that was refused is remembered for a while: its client was told to ask again. */
const FAILURE_KEPT_MS = 86_400_000;

/** What an image that cannot be had answers, and why. */
export interface Unavailable {
  status: 404 | 410 | 451;
  /** Written for the client. */
  detail: string;
  /** Of 451: URL that tells who blocks it and why; `null`: not told. */
  authority?: string | null;
}

/**
 * Why an image is not to be had at `now`: 404 (never came to be, or gone for good) before 451 (withheld) before 410 (gone).
 * `null` while it lives.
 * @param tombstoneMs how long it is remembered that there was an image.
 */
export function whyUnavailable(record: ImageRecord, now: number, tombstoneMs: number): Unavailable | null {
  const { failure, withheld } = record;
  // It never came to be, so that it is not gone either.
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
