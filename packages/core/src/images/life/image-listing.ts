import type { ImageRecord } from "../image-record.ts";
import { type ImageSummary, summaryOf } from "../image-summary.ts";
import { dueEnd } from "./image-life.ts";
import type { LifeContext } from "./life-context.ts";

/** Where an image is in its life. */
export type ImageState = "processing" | "ready" | "withheld" | "failed" | "deleted" | "expired" | "removed";

export interface ListedImage extends ImageSummary {
  state: ImageState;
  /** Of one that is withheld. */
  reason?: string;
}

/** All images that are known, in no particular order. Reads every record: for people and nightly jobs. */
export async function* listImages(context: LifeContext): AsyncGenerator<ListedImage> {
  for await (const id of context.records.ids()) {
    const image = await lookAt(context, id);
    if (image !== null) yield image;
  }
}

/** `null` where there is no record, and where it cannot be read. */
export async function lookAt({ records, settings }: LifeContext, id: string): Promise<ListedImage | null> {
  const current = await records.load(id).catch((error) => {
    // One that cannot be read must not hide all others.
    settings.onError(error);
    return null;
  });
  // Removed since its name was read.
  if (current === null) return null;
  const { record } = current;
  return {
    ...summaryOf(record),
    state: stateOf(record, settings.now()),
    ...(record.withheld === null ? {} : { reason: record.withheld.reason }),
  };
}

function stateOf(record: ImageRecord, now: number): ImageState {
  if (record.failure !== null) return "failed";
  const gone = record.gone ?? dueEnd(record, now);
  if (gone !== null) return gone.why === "withheld" ? "removed" : gone.why;
  if (record.withheld !== null) return "withheld";
  return record.processing === null ? "ready" : "processing";
}
