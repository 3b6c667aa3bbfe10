import { ServiceError } from "../../errors.ts";
import { endWhereDue } from "../life/change-record.ts";
import { isClaimed } from "../processing/transitions.ts";
import { unknownImage, whyUnavailable } from "../record/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import type { LibraryContext } from "./library-context.ts";

const MAX_RETRY_AFTER_MS = 30_000;
/** `Retry-After` is the time since the upload divided by this. */
const PATIENCE = 5;

/** The `processing` error of an image. Its record is private, as the host may log the error. */
export class StillProcessing extends ServiceError {
  readonly #record: ImageRecord;

  constructor(record: ImageRecord, retryAfterMs: number) {
    super("processing", "The image is still being processed", { retryAfterMs });
    this.#record = record;
  }

  /** The record of the image for which this error was made. `null` for any other error. */
  static recordOf(error: unknown): ImageRecord | null {
    return typeof error === "object" && error !== null && #record in error ? error.#record : null;
  }
}

/** Loads the record of a living image, ready or not. Rejects like {@link requireAlive}. */
export async function findImage(
  context: LibraryContext,
  id: string,
  signal?: AbortSignal,
): Promise<CurrentRecord> {
  const current = context.records.peek(id) ?? (await context.records.load(id, signal));
  if (current === null) throw unknownImage();
  await context.records.settled(current, signal);
  await requireAlive(context, current);
  return current;
}

/** Loads the record of a living, ready image. Rejects like {@link requireAlive}, then like {@link requireReady}. */
export async function findReadyImage(
  context: LibraryContext,
  id: string,
  signal?: AbortSignal,
): Promise<CurrentRecord> {
  const current = await findImage(context, id, signal);
  requireReady(context, current);
  return current;
}

/** Rejects with {@link StillProcessing} while the image is processed. */
export function requireReady({ jobs, settings }: LibraryContext, { record }: CurrentRecord): void {
  const { processing } = record;
  if (processing === null) return;
  // The lease holder died, and this read is the first to notice.
  if (!isClaimed(processing, settings.now())) jobs.enqueue(record);
  throw new StillProcessing(record, retryAfterMs(record, settings.now()));
}

/** How long a client should wait before it polls again: 1 s at first, longer for an image that takes long. */
export function retryAfterMs({ createdAt }: ImageRecord, now: number): number {
  const seconds = Math.ceil((now - createdAt) / 1000 / PATIENCE);
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(1, seconds) * 1000);
}

/** Rejects if the image is not alive, with `not_found`, `withheld` or `gone`, in this order. */
export async function requireAlive(context: LibraryContext, current: CurrentRecord): Promise<void> {
  const { now, tombstoneMs } = context.settings;
  const nowMs = now();
  if (whyUnavailable(current.record, nowMs, tombstoneMs) === null) return;
  const ended = await writeDueEnd(context, current);
  if (ended !== null) await context.records.settled(ended);
  const refusal = ended === null ? unknownImage() : whyUnavailable(ended.record, nowMs, tombstoneMs);
  if (refusal !== null) throw refusal;
  return requireAlive(context, ended ?? current);
}

/**
 * Records the due end of an image. Once a reply said that it is gone, it must stay gone even if the clock is set
 * back.
 * @returns The latest record: `current` may be outdated by a change of another process.
 */
async function writeDueEnd(context: LibraryContext, current: CurrentRecord): Promise<CurrentRecord | null> {
  try {
    return await endWhereDue(context, current);
  } catch (error) {
    // A store that rejects writes must not bring the image back.
    context.settings.onError(error);
    return current;
  }
}
