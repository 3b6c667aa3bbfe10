import type { GoneReason, ImageRecord, Withholding } from "../record/image-record.ts";
import { dueEnd } from "./image-life.ts";
import type { LifeContext } from "./life-context.ts";

/** That an image is gone or withheld, as a later restore has to know it. */
export interface ImageEnd {
  /** Of the image. */
  id: string;
  /** When it went, or was withheld first; Unix milliseconds. */
  at: number;
  /** Why it is gone; `null` while it is only withheld. */
  why: GoneReason | null;
  /** `null` where it is not withheld. */
  withheld: Withholding | null;
}

/** Called for a record that cannot be read. */
export type OnUnreadable = (id: string, error: unknown) => void;

/**
 * Every image that is known to be gone or withheld, in no particular order. Reads every record. One that cannot be read must
 * not be left out in silence, for the list would be believed.
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
  // One that was refused never was an image.
  if (record === null || record.failure !== null) return null;
  const { id, withheld } = record;
  const gone = record.gone ?? dueEnd(record, now);
  const at = gone?.at ?? withheld?.since;
  return at === undefined ? null : { id, at, why: gone?.why ?? null, withheld };
}
