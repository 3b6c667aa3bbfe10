import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import type { Gone, ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { endedRecord, endImage, tellRemoved } from "./change-record.ts";
import { isOver } from "./image-life.ts";
import type { LifeContext } from "./life-context.ts";

/** An image that was deleted, and the entry by which the sweep removes what the caller does not. */
export interface TakenDown {
  record: ImageRecord;
  entry: DueEntry;
}

/** Deletes a living image, as far as anybody can see. Rejects with `conflict` when somebody else changed it meanwhile. */
export async function takeDown(context: LifeContext, current: CurrentRecord): Promise<TakenDown> {
  const { due, records, settings } = context;
  const { id, processing } = current.record;
  const entry = { id, dueMs: settings.now() };
  const gone: Gone = { at: entry.dueMs, why: "deleted" };
  try {
    await due.add(entry);
    return { record: (await endImage(context, current, gone)).record, entry };
  } catch (error) {
    if (processing === null) {
      if (!isServiceError(error, "no_space")) throw error;
      return { record: await takeDownWithoutRoom(context, current, gone), entry };
    }
    // Only who works on an image changes it while it is processed, and not in a way that matters to who deletes it.
    if (!isServiceError(error, "conflict")) throw error;
    const changed = await records.load(id);
    if (changed === null || isOver(changed.record, settings.now())) throw error;
    return takeDown(context, changed);
  }
}

/**
 * Deletes an image from a store that is too full for a line that says so: removing takes no room, and makes some for saying
 * it afterwards. Until then the image is unknown. Nothing is compared, since nobody else can write either.
 */
async function takeDownWithoutRoom(
  context: LifeContext,
  { record }: CurrentRecord,
  gone: Gone,
): Promise<ImageRecord> {
  const { owners, records, settings } = context;
  const { owner } = record;
  await records.remove(record.id);
  tellRemoved(context, record, gone.why);
  await context.removeBytes(record.id);
  const removed = { ...endedRecord(record, gone), updatedAt: Math.max(settings.now(), record.updatedAt) };
  try {
    await records.create(removed);
  } catch (error) {
    settings.onError(error);
    // Nothing tells of the image any more, so that nobody else will do this.
    if (owner !== null) await owners.release(owner.name, record.id, owner.bytes).catch(settings.onError);
  }
  return removed;
}
