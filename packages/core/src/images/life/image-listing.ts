import { isServiceError } from "../../errors.ts";
import { dueEnd } from "../record/image-life.ts";
import type { GoneReason, ImageRecord, Withholding } from "../record/image-record.ts";
import { type ImageSummary, summaryOf } from "../record/image-summary.ts";
import { NewerVersion } from "../record/known-version.ts";
import { loadAny } from "./damaged-image.ts";
import type { LifeContext } from "./life-context.ts";

/** State of an image. */
export type ImageState =
  | "processing"
  | "ready"
  | "withheld"
  | "failed"
  | "deleted"
  | "expired"
  | "removed"
  | "damaged";

/** A listed image. If it is damaged, only `id` and `state` are valid: its record is unreadable. */
export interface ListedImage extends ImageSummary {
  state: ImageState;
  /** Why the image is withheld. Absent: it is not withheld. */
  reason?: string;
}

/** Lists all known images, in no particular order. Reads every record: for operators and nightly jobs. */
export async function* listImages(context: LifeContext): AsyncGenerator<ListedImage> {
  for await (const id of context.records.ids()) {
    const image = await lookAt(context, id);
    if (image !== null && image !== NEWER) yield image;
  }
}

/** Stands for an image that a newer release wrote: this release cannot read its record. */
export const NEWER = "newer";

/**
 * The image for a listing. `onError` gets the error of an unreadable record. `null`: no record, or the store failed.
 */
export async function lookAt(context: LifeContext, id: string): Promise<ListedImage | typeof NEWER | null> {
  const { records, settings } = context;
  let failure: unknown = null;
  const current = await records.load(id).catch((error) => {
    // One unreadable record must not hide all others.
    settings.onError(error);
    failure = error;
    return isServiceError(error, "damaged") ? loadAny(context, id) : null;
  });
  if (failure instanceof NewerVersion) return NEWER;
  // Removed after its name was listed.
  if (current === null) return null;
  const { record } = current;
  return {
    ...summaryOf(record),
    state: failure === null ? stateOf(record, settings.now()) : "damaged",
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

/** The end or the withholding of an image, for a later restore. */
export interface ImageEnd {
  /** ID of the image. */
  id: string;
  /** When the image ended, or was first withheld, in Unix milliseconds. */
  at: number;
  /** Why the image is gone; `null`: it is only withheld. */
  why: GoneReason | null;
  /** `null`: not withheld. */
  withheld: Withholding | null;
}

/** Called for an unreadable record. */
export type OnUnreadable = (id: string, error: unknown) => void;

/**
 * Lists every image that is gone or withheld, in no particular order. Reads every record. Rejects for an unreadable
 * record unless `onUnreadable` is given: an incomplete list would look complete.
 */
export async function* listEnds(
  { records, settings }: LifeContext,
  onUnreadable?: OnUnreadable,
): AsyncGenerator<ImageEnd> {
  for await (const id of records.ids()) {
    const current = await records.load(id).catch((error) => {
      if (onUnreadable === undefined) throw error;
      onUnreadable(id, error);
      return null;
    });
    const end = endOf(current?.record ?? null, settings.now());
    if (end !== null) yield end;
  }
}

function endOf(record: ImageRecord | null, now: number): ImageEnd | null {
  // A rejected upload was never an image.
  if (record === null || record.failure !== null) return null;
  const { id, withheld } = record;
  const gone = record.gone ?? dueEnd(record, now);
  const at = gone?.at ?? withheld?.since;
  return at === undefined ? null : { id, at, why: gone?.why ?? null, withheld };
}
