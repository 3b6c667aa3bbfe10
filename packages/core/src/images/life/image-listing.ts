import { isServiceError } from "../../errors.ts";
import { dueEnd } from "../record/image-life.ts";
import type { GoneReason, ImageRecord, Withholding } from "../record/image-record.ts";
import { type ImageSummary, summaryOf } from "../record/image-summary.ts";
import { NewerVersion } from "../record/known-version.ts";
import { loadAny } from "./damaged-image.ts";
import type { LifeContext } from "./life-context.ts";

/** The state of an image. */
export type ImageState =
  | "processing"
  | "ready"
  | "withheld"
  | "failed"
  | "deleted"
  | "expired"
  | "removed"
  | "damaged";

/** For a damaged image only `id` and `state` are valid: its record cannot be read. */
export interface ListedImage extends ImageSummary {
  state: ImageState;
  /** Why it is withheld. Absent: it is not. */
  reason?: string;
}

/** All known images, in no particular order. Reads every record: for operators and nightly jobs. */
export async function* listImages(context: LifeContext): AsyncGenerator<ListedImage> {
  for await (const id of context.records.ids()) {
    const image = await lookAt(context, id);
    if (image !== null && image !== NEWER) yield image;
  }
}

/** An image that a newer release wrote; this release cannot read its record. */
export const NEWER = "newer";

/** The image as listed; `onError` gets the error of a record that cannot be read. `null`: missing, or not readable at all. */
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
  // Removed since its name was listed.
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

/** The end of an image, or its withholding, for a later restore. */
export interface ImageEnd {
  /** Of the image. */
  id: string;
  /** When it ended, or was first withheld; Unix milliseconds. */
  at: number;
  /** Why it is gone; `null` while it is only withheld. */
  why: GoneReason | null;
  /** `null`: it is not withheld. */
  withheld: Withholding | null;
}

/** Called for a record that cannot be read. */
export type OnUnreadable = (id: string, error: unknown) => void;

/**
 * Every image that is gone or withheld, in no particular order. Reads every record. Rejects for an unreadable one without
 * `onUnreadable`: an incomplete list would pass for a whole one.
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
  // A rejected upload never was an image.
  if (record === null || record.failure !== null) return null;
  const { id, withheld } = record;
  const gone = record.gone ?? dueEnd(record, now);
  const at = gone?.at ?? withheld?.since;
  return at === undefined ? null : { id, at, why: gone?.why ?? null, withheld };
}
