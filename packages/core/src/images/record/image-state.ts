import { MAX_DUE_MS } from "../../contracts/due-index.ts";
import type { RecordState } from "../../contracts/record-queries.ts";
import { ServiceError } from "../../errors.ts";
import { UNDELIVERED_MS } from "../../http/webhooks.ts";
import type { DueList } from "../../stores/due-list.ts";
import type { Gone, ImageRecord } from "./image-record.ts";

/** How long the reason of a rejected upload is kept. After a 202 the client polls for it. */
const FAILURE_KEPT_MS = 86_400_000;

/** A time before every date: an image's state at it is that of its record alone, independent of the clock. */
export const BY_RECORD = Number.NEGATIVE_INFINITY;

/** The state of an image at a time. Serving, changing, counting and sweeping depend on this alone. */
export interface StateAtTime {
  name: RecordState;
  /** Its end for good, by its record or by its dates. `null`: it has none, or it is a rejected upload, never an image. */
  end: Gone | null;
  /** Whether nothing of it is served any more: it has an end, or it is a rejected upload. */
  isOver: boolean;
}

/** The state of an image at `nowMs`; see {@link BY_RECORD}. */
export function stateAt(record: ImageRecord, nowMs: number): StateAtTime {
  if (record.failure !== null) return { name: "failed", end: null, isOver: true };
  const end = record.gone ?? endByDates(record, nowMs);
  if (end !== null) return { name: end.why === "withheld" ? "removed" : end.why, end, isOver: true };
  return { name: record.withheld === null ? readinessOf(record) : "withheld", end, isOver: false };
}

/** Whether a living image can be served, apart from a takedown. */
export function readinessOf({ processing, held }: Pick<ImageRecord, "processing" | "held">) {
  if (processing !== null) return "processing";
  return held ? "held" : "ready";
}

function endByDates(record: ImageRecord, nowMs: number): Gone | null {
  const deleteAfter = record.withheld?.deleteAfter ?? Number.POSITIVE_INFINITY;
  if (deleteAfter <= nowMs) return { at: deleteAfter, why: "withheld" };
  const expiresAt = expiryOf(record);
  return expiresAt <= nowMs ? { at: expiresAt, why: "expired" } : null;
}

/** When an image expires, in Unix milliseconds. `Infinity`: never, or not while it is held: its life starts when it is accepted. */
export function expiryOf({ expiresAt, held }: Pick<ImageRecord, "expiresAt" | "held">): number {
  return held ? Number.POSITIVE_INFINITY : (expiresAt ?? Number.POSITIVE_INFINITY);
}

/** The error for an image without a record. */
export function unknownImage(): ServiceError {
  return new ServiceError("not_found", "There is no such image.");
}

/**
 * Why an image is unavailable at `nowMs`. In order of precedence: `not_found` (processing failed, or the tombstone
 * ended), `withheld`, `gone`. `null` while the image is alive.
 * @param tombstoneMs How long the record of an ended image is kept.
 */
export function whyUnavailable(record: ImageRecord, nowMs: number, tombstoneMs: number): ServiceError | null {
  const { end } = stateAt(record, nowMs);
  const { failure, withheld } = record;
  // A failed upload was never an image, so it is not gone.
  if (failure !== null) return new ServiceError("not_found", failure);
  if (end !== null) {
    // A withheld image may set an earlier date.
    const forgottenAt = Math.min(end.at + tombstoneMs, withheld?.deleteAfter ?? Number.POSITIVE_INFINITY);
    if (end.why === "withheld" || forgottenAt <= nowMs) return unknownImage();
  }
  if (withheld !== null) {
    const { reason, authority } = withheld;
    return new ServiceError("withheld", reason, authority === null ? {} : { authority });
  }
  if (end === null) return null;
  const detail =
    end.why === "deleted"
      ? "This image was deleted."
      : `This image expired at ${new Date(end.at).toISOString()}.`;
  return new ServiceError("gone", detail);
}

/** When an image needs its next sweep, unless it changes before. `Infinity`: never. */
export function nextSweepAt(record: ImageRecord, tombstoneMs: number): number {
  const { failure, gone, updatedAt, withheld } = record;
  const expiresAt = expiryOf(record);
  if (failure !== null) return Math.min(expiresAt, updatedAt + FAILURE_KEPT_MS);
  // Even if 404 comes sooner: restoring a backup must not bring back a removed image.
  if (gone !== null) return gone.at + tombstoneMs;
  const endsAt = Math.min(expiresAt, withheld?.deleteAfter ?? expiresAt);
  // A date may lie beyond the times of a due index.
  return endsAt === Number.POSITIVE_INFINITY ? endsAt : Math.min(endsAt, MAX_DUE_MS);
}

/** Whether a record has events that may still be delivered, so that it must stay. */
export function hasUndelivered({ outbox }: ImageRecord, nowMs: number): boolean {
  return outbox?.events.some(({ at }) => at + UNDELIVERED_MS > nowMs) ?? false;
}

/** Adds the due entry for the next sweep of an image. An image that never needs one gets none. */
export async function addNextSweep(
  due: Pick<DueList, "add">,
  record: ImageRecord,
  tombstoneMs: number,
): Promise<void> {
  const dueMs = nextSweepAt(record, tombstoneMs);
  if (dueMs !== Number.POSITIVE_INFINITY) await due.add({ id: record.id, dueMs });
}
