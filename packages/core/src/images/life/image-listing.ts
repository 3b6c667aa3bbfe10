import { isServiceError } from "../../errors.ts";
import type { ImageRecord } from "../image-record.ts";
import { type ImageSummary, summaryOf } from "../image-summary.ts";
import { NewerVersion } from "../known-version.ts";
import { loadAny } from "./damaged-image.ts";
import { dueEnd } from "./image-life.ts";
import type { LifeContext } from "./life-context.ts";

/** Where an image is in its life. */
export type ImageState =
  | "processing"
  | "ready"
  | "withheld"
  | "failed"
  | "deleted"
  | "expired"
  | "removed"
  | "damaged";

/** Of a damaged image only `id` and `state` are true: its record cannot be read. */
export interface ListedImage extends ImageSummary {
  state: ImageState;
  /** Of one that is withheld. */
  reason?: string;
}

/** Images by state, with the bytes of their originals as far as these are kept. */
export interface ImageStats {
  /** Images that a newer release wrote. They are in no other number, for this release cannot read their records. */
  newer: number;
  images: number;
  bytes: number;
  states: Record<ImageState, number>;
}

/**
 * All images that are known, in no particular order. Reads every record: for people and nightly jobs. `onError` gets each
 * that cannot be read.
 * @param onUnread gets the error of each record that cannot be read, after `onError`.
 */
export async function* listImages(
  context: LifeContext,
  onUnread: (error: unknown) => void = () => undefined,
): AsyncGenerator<ListedImage> {
  const { records, settings } = context;
  for await (const id of records.ids()) {
    let isDamaged = false;
    const current = await records.load(id).catch((error) => {
      // One that cannot be read must not hide all others.
      settings.onError(error);
      onUnread(error);
      isDamaged = isServiceError(error, "damaged");
      return isDamaged ? loadAny(context, id) : null;
    });
    // Removed since its name was read.
    if (current === null) continue;
    const { record } = current;
    const state = isDamaged ? "damaged" : stateOf(record, settings.now());
    yield {
      ...summaryOf(record),
      state,
      ...(record.withheld === null ? {} : { reason: record.withheld.reason }),
    };
  }
}

export async function countImages(context: LifeContext): Promise<ImageStats> {
  const states = {
    ...{ processing: 0, ready: 0, withheld: 0, failed: 0, deleted: 0, expired: 0, removed: 0 },
    damaged: 0,
  };
  const stats: ImageStats = { images: 0, bytes: 0, states, newer: 0 };
  const countNewer = (error: unknown) => {
    if (error instanceof NewerVersion) stats.newer++;
  };
  for await (const { state, size } of listImages(context, countNewer)) {
    stats.images++;
    states[state]++;
    if (state === "processing" || state === "ready" || state === "withheld") stats.bytes += size;
  }
  return stats;
}

function stateOf(record: ImageRecord, now: number): ImageState {
  if (record.failure !== null) return "failed";
  const gone = record.gone ?? dueEnd(record, now);
  if (gone !== null) return gone.why === "withheld" ? "removed" : gone.why;
  if (record.withheld !== null) return "withheld";
  return record.processing === null ? "ready" : "processing";
}
