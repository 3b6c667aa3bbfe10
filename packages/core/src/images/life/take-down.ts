import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import type { ImageRecord } from "../image-record.ts";
import type { CurrentRecord } from "../image-records.ts";
import { endImage } from "./change-record.ts";
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
  await due.add(entry);
  try {
    const gone = { at: entry.dueMs, why: "deleted" as const };
    return { record: (await endImage(context, current, gone)).record, entry };
  } catch (error) {
    // Only who works on an image changes it while it is processed, and not in a way that matters to who deletes it.
    if (processing === null || !isServiceError(error, "conflict")) throw error;
    const changed = await records.load(id);
    if (changed === null || isOver(changed.record, settings.now())) throw error;
    return takeDown(context, changed);
  }
}
