import type { Readable } from "node:stream";
import type { ByteRange } from "../../contracts/blob-store.ts";
import { ServiceError } from "../../errors.ts";
import { endWhereDue } from "../life/end-image.ts";
import { isClaimed } from "../processing/lease.ts";
import { type ImageRecord, isImageId } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { readinessOf, unknownImage, whyUnavailable } from "../record/image-state.ts";
import { BytesReplaced, type StoredTarget } from "../renditions/rendition-bytes.ts";
import type { Reader } from "../renditions/shared-work.ts";
import type { LibraryContext } from "./library-context.ts";

const MAX_RETRY_AFTER_MS = 30_000;
/** `Retry-After` is the time since the upload divided by this. */
const PATIENCE = 5;

const HELD = "The image waits for review";

/** The `processing` error of an image. Its record is private, as the host may log the error. */
export class StillProcessing extends ServiceError {
  readonly #record: ImageRecord;

  constructor(record: ImageRecord, retryAfterMs: number) {
    super("processing", record.held ? HELD : "The image is still being processed", { retryAfterMs });
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
  const current = isImageId(id)
    ? (context.records.peek(id) ?? (await context.records.load(id, signal)))
    : null;
  if (current === null) throw unknownImage();
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

/** Rejects with {@link StillProcessing} while the image is processed or held. */
export function requireReady({ jobs, settings }: LibraryContext, { record }: CurrentRecord): void {
  if (readinessOf(record) === "ready") return;
  const { processing } = record;
  // The lease holder died, and this read is the first to notice.
  if (processing !== null && !isClaimed(processing, settings.now())) jobs.enqueue(record);
  throw new StillProcessing(record, retryAfterMs(record, settings.now()));
}

/** How long a client should wait before it polls again: 1 s at first, longer for an image that takes long or is held. */
export function retryAfterMs({ createdAt, held }: ImageRecord, now: number): number {
  if (held) return MAX_RETRY_AFTER_MS;
  const seconds = Math.ceil((now - createdAt) / 1000 / PATIENCE);
  return Math.min(MAX_RETRY_AFTER_MS, Math.max(1, seconds) * 1000);
}

/** Rejects if the image is not alive, with `not_found`, `withheld` or `gone`, in this order. */
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

/** The bytes of a rendition, and the record of its image after the render. */
export interface FoundBytes {
  current: CurrentRecord;
  size: number;
  /** Entity tag, quotes included. */
  etag: string;
  /** Opens all bytes, or a range. Rejects if the image has ended meanwhile. */
  open(range?: ByteRange): Promise<Buffer | Readable>;
}

/** Attempts to open a rendition: its bytes may be evicted or replaced between lookup and opening. */
const MAX_ATTEMPTS = 3;

/**
 * Finds or renders the bytes of a living image, and passes them to `use`. Retries if the bytes were replaced before
 * they were opened. Rejects like {@link requireAlive} if the image ends meanwhile, and like `Renditions.get`.
 */
export async function readRendition<T>(
  context: LibraryContext,
  target: StoredTarget,
  reader: Reader,
  use: (found: FoundBytes) => Promise<T>,
): Promise<T> {
  const { record } = target;
  for (let attempt = 1; ; attempt++) {
    try {
      const bytes = await context.renditions.get(target, reader);
      // Rendering and remote stores take time. The image may have been deleted or have expired since.
      const current = await findReadyImage(context, record.id, reader.signal);
      if (bytes === null) {
        await context.guard.confirmBytes();
        context.renditions.lost();
        throw new ServiceError(
          "damaged",
          `The original of image ${record.id} is missing from its store, and should have ${record.size} bytes`,
        );
      }
      const { size, etag } = bytes;
      return await use({
        current,
        size,
        etag,
        async open(range) {
          const body = await bytes.open(range);
          try {
            // It may have expired while the backend opened them.
            await requireAlive(context, current);
            return body;
          } catch (error) {
            if (!Buffer.isBuffer(body)) body.destroy();
            throw error;
          }
        },
      });
    } catch (error) {
      if (!(error instanceof BytesReplaced)) throw error;
      if (attempt < MAX_ATTEMPTS) continue;
      throw new ServiceError("store_unavailable", error.message, { cause: error });
    }
  }
}
