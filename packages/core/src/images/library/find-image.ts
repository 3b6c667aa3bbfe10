import { ServiceError } from "../../errors.ts";
import { endWhereDue } from "../life/change-record.ts";
import { isClaimed } from "../processing/transitions.ts";
import { unknownImage, whyUnavailable } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { LibraryContext } from "./library-context.ts";

const MAX_RETRY_AFTER_MS = 30_000;
/** After this many seconds of waiting, the next look can wait another second. */
const PATIENCE = 5;

/** The `processing` rejection of an image. Its record stays private: a host may log the error. */
export class StillProcessing extends ServiceError {
  readonly #record: ImageRecord;

  constructor(record: ImageRecord, retryAfterMs: number) {
    super("processing", "The image is still being processed", { retryAfterMs });
    this.#record = record;
  }

  /** The record of an image that is still processed, as the error was made for it; `null` for any other error. */
  static recordOf(error: unknown): ImageRecord | null {
    return typeof error === "object" && error !== null && #record in error ? error.#record : null;
  }
}

/** The record of a living image, ready or not. Rejects as {@link requireAlive}. */
export async function findImage(
  context: LibraryContext,
  id: string,
  signal?: AbortSignal,
): Promise<CurrentRecord> {
  const current = context.records.peek(id) ?? (await context.records.load(id, signal));
  if (current === null) throw unknownImage();
  await requireAlive(context, current);
  return current;
}

/** The record of a living image that can be served. Rejects as {@link requireAlive}, then as {@link requireReady}. */
export async function findReadyImage(
  context: LibraryContext,
  id: string,
  signal?: AbortSignal,
): Promise<CurrentRecord> {
  const current = await findImage(context, id, signal);
  requireReady(context, current);
  return current;
}

/** Rejects with {@link StillProcessing} while an image is processed. */
export function requireReady({ jobs, settings }: LibraryContext, { record }: CurrentRecord): void {
  const { processing } = record;
  if (processing === null) return;
  // A read is the first to notice that the lease holder died.
  if (!isClaimed(processing, settings.now())) jobs.enqueue(record);
  throw new StillProcessing(record, retryAfterMs(record, settings.now()));
}

/** When to ask again for an image that is processed: soon at first, later for one that has taken long already. */
export function retryAfterMs({ createdAt }: ImageRecord, now: number): number {
  const seconds = Math.ceil((now - createdAt) / 1000 / PATIENCE);
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(1, seconds) * 1000);
}

/** Rejects as the life of an image says: `not_found`, `withheld`, `gone`, in this order. */
export async function requireAlive(context: LibraryContext, current: CurrentRecord): Promise<void> {
  const { now, tombstoneMs } = context.settings;
  const nowMs = now();
  if (whyUnavailable(current.record, nowMs, tombstoneMs) === null) return;
  const ended = await writeDueEnd(context, current);
  const refusal = ended === null ? unknownImage() : whyUnavailable(ended.record, nowMs, tombstoneMs);
  if (refusal !== null) throw refusal;
  return requireAlive(context, ended ?? current);
}

/**
 * Writes the end of an image that was once said to be gone: it must stay so when the clock is set back.
 * @returns the record as it is then: `current` may be old, and another process may have changed it.
 */
async function writeDueEnd(context: LibraryContext, current: CurrentRecord): Promise<CurrentRecord | null> {
  try {
    return await endWhereDue(context, current);
  } catch (error) {
    // A store that cannot be written does not bring the image back.
    context.settings.onError(error);
    return current;
  }
}
