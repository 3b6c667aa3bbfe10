import { MAX_DUE_MS } from "../../contracts/due-index.ts";
import { ServiceError } from "../../errors.ts";
import type { DueList } from "../../stores/due-list.ts";
import type { Gone, ImageRecord } from "./image-record.ts";

/** How long the reason of a rejected upload is kept. After a 202 the client polls for it. */
const FAILURE_KEPT_MS = 86_400_000;

/** When an image expires, in Unix milliseconds. `Infinity`: never. */
export function expiryOf({ expiresAt }: Pick<ImageRecord, "expiresAt">): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}

/** The error for an image without a record. */
export function unknownImage(): ServiceError {
  return new ServiceError("not_found", "There is no such image.");
}

/**
 * Why an image is unavailable at `now`. In order of precedence: `not_found` (processing failed, or the tombstone
 * ended), `withheld`, `gone`. `null` while the image is alive.
 * @param tombstoneMs How long the record of an ended image is kept.
 */
export function whyUnavailable(record: ImageRecord, now: number, tombstoneMs: number): ServiceError | null {
  const { failure, withheld } = record;
  // A failed upload was never an image, so it is not gone.
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
      : `This image expired at ${new Date(gone.at).toISOString()}.`;
  return new ServiceError("gone", detail);
}

/** Whether an image has ended for good, by its record or by its dates. */
export function isOver(record: ImageRecord, now: number): boolean {
  return record.failure !== null || record.gone !== null || dueEnd(record, now) !== null;
}

/** The end that is due by the image's dates at `now`. `null` if none is due, or if the record has an end already. */
export function dueEnd(record: ImageRecord, now: number): ImageRecord["gone"] {
  if (record.gone !== null) return null;
  const expiresAt = expiryOf(record);
  const deleteAfter = record.withheld?.deleteAfter ?? Number.POSITIVE_INFINITY;
  if (deleteAfter <= now) return { at: deleteAfter, why: "withheld" };
  return expiresAt <= now ? { at: expiresAt, why: "expired" } : null;
}

/** When an image needs its next sweep, unless it changes before. `Infinity`: never. */
export function nextLookAt(record: ImageRecord, tombstoneMs: number): number {
  const { failure, gone, updatedAt, withheld } = record;
  const expiresAt = expiryOf(record);
  if (failure !== null) return Math.min(expiresAt, updatedAt + FAILURE_KEPT_MS);
  // Even if 404 comes sooner: restoring a backup must not bring back a removed image.
  if (gone !== null) return gone.at + tombstoneMs;
  const endsAt = Math.min(expiresAt, withheld?.deleteAfter ?? expiresAt);
  // A date may lie beyond the times of a due index.
  return endsAt === Number.POSITIVE_INFINITY ? endsAt : Math.min(endsAt, MAX_DUE_MS);
}

/** Adds the due entry for the next sweep of an image. An image that never needs one gets none. */
export async function addNextLook(
  due: Pick<DueList, "add">,
  record: ImageRecord,
  tombstoneMs: number,
): Promise<void> {
  const dueMs = nextLookAt(record, tombstoneMs);
  if (dueMs !== Number.POSITIVE_INFINITY) await due.add({ id: record.id, dueMs });
}

/** When an ended image changes from 410 to 404. A withheld image may set an earlier date. */
function forgottenFrom({ withheld }: ImageRecord, { at, why }: Gone, tombstoneMs: number): number {
  if (why === "withheld") return at;
  return Math.min(at + tombstoneMs, withheld?.deleteAfter ?? Number.POSITIVE_INFINITY);
}

/** Whether an image has ended for good by its record alone, independent of the clock. */
export function hasEnded({ failure, gone }: ImageRecord): boolean {
  return failure !== null || gone !== null;
}
