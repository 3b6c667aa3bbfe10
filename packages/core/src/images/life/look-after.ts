import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { endWhereDue } from "./change-record.ts";
import { isOver, nextLookAt } from "./image-life.ts";
import type { LifeContext } from "./life-context.ts";

/** What a look at an image came to: it stays as it is, its bytes were removed, or all that was known of it. */
export type Look = "kept" | "emptied" | "forgotten";

/**
 * Does what is due about an image: its record says first that it is gone, then its bytes are removed, the record goes last.
 * May be done any number of times, by anybody; what a failure leaves undone is found again by the entry.
 */
export async function lookAfter(context: LifeContext, entry: DueEntry): Promise<Look> {
  const { due, records, settings } = context;
  const { id } = entry;
  const found = await records.load(id);
  const current = found === null ? null : await endWithRoom(context, found);
  if (current === null) {
    // An upload that was cut off before it had a record, or what a slower colleague left.
    await context.removeBytes(id);
    await due.remove(entry);
    return "forgotten";
  }
  const now = settings.now();
  const isEnded = isOver(current.record, now);
  if (isEnded) await empty(context, current);
  const dueMs = nextLookAt(current.record, settings.tombstoneMs);
  if (isEnded && dueMs <= now) {
    await records.remove(id);
    await due.remove({ id, dueMs: current.record.expiresAt });
    await due.remove(entry);
    return "forgotten";
  }
  if (dueMs !== entry.dueMs) {
    await due.add({ id, dueMs });
    await due.remove(entry);
  }
  return isEnded ? "emptied" : "kept";
}

/** Removes the bytes, and gives the owner the room back. */
async function empty(context: LifeContext, current: CurrentRecord): Promise<void> {
  const { owner, id } = current.record;
  await context.removeBytes(id);
  if (owner === null) return;
  await context.owners.release(owner.name, id, owner.bytes);
  try {
    await context.records.replace(current, { ...current.record, owner: null });
  } catch (error) {
    // Changed meanwhile: whoever looks next does the rest. What is released twice is released once.
    if (isServiceError(error, "conflict")) return;
    throw error;
  }
  context.owners.settle(owner.name, id);
}

/** Ends what is due. On a full disk the bytes go first: that makes room for saying that the image is gone. */
async function endWithRoom(context: LifeContext, found: CurrentRecord): Promise<CurrentRecord | null> {
  try {
    return await endWhereDue(context, found);
  } catch (error) {
    if (!isServiceError(error, "no_space")) throw error;
    await context.removeBytes(found.record.id);
    return endWhereDue(context, found);
  }
}
