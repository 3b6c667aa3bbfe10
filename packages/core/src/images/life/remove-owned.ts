import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { isServiceError } from "../../errors.ts";
import * as rules from "../../option-rules.ts";
import { hashOfName } from "../../stores/name-index.ts";
import { isOwnerName } from "../authorize.ts";
import { ORPHAN_MS } from "../processing/lease.ts";
import { ID_LENGTH, type LastAct } from "../record/image-record.ts";
import { stateAt } from "../record/image-state.ts";
import { MAX_ATTEMPTS } from "./change-record.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { markDeleted, sweepImage } from "./end-image.ts";

export const REMOVE_ALL_RULES = {
  /** Whose images are deleted. */
  owner: rules.required(rules.text("the name of an owner, 1 to 256 characters", isOwnerName)),
};

export interface RemoveAllOptions extends rules.Options<typeof REMOVE_ALL_RULES> {}

/** The result of a deletion of an owner's images. */
export interface OwnerRemoval {
  /** Images that this call deleted. */
  removed: number;
  /** Images that stay because an operator withholds them. */
  withheld: number;
}

const REMOVED_AT_ONCE = 8;
const JOBS_AT_ONCE = 1000;

/**
 * Deletes the images that an owner has now. The due entry is written first, so any process continues after a crash. Its time is
 * {@link ORPHAN_MS} later: until then, each sweep also finds uploads that were under way.
 * @param mayGoOn After `false`, the sweep deletes the others. `isDone` is `false` then.
 */
export async function removeOwned(context: LifeContext, owner: string, mayGoOn = () => true) {
  const entry = { id: hashOfName(owner), dueMs: context.settings.now() + ORPHAN_MS };
  await context.removals.add(entry);
  return endOwned(context, entry, mayGoOn);
}

/** Continues all deletions of owners' images. Reports failures, and leaves them to the next sweep. */
export async function sweepRemovals(context: LifeContext, mayGoOn: () => boolean): Promise<void> {
  const { removals, settings } = context;
  for (const entry of await removals.due(settings.now() + ORPHAN_MS, JOBS_AT_ONCE)) {
    const isLast = entry.dueMs <= settings.now();
    const { isDone } = await endOwned(context, entry, mayGoOn).catch((error) => {
      settings.onError(error);
      return { isDone: false };
    });
    if (isDone && isLast) await removals.remove(entry);
  }
}

async function endOwned(context: LifeContext, { id: owner, dueMs }: DueEntry, mayGoOn: () => boolean) {
  const result = { removed: 0, withheld: 0, isDone: true };
  const failures: unknown[] = [];
  const act = { id: hashOfName(`${owner} ${dueMs}`).slice(0, ID_LENGTH), name: "removeAll" } as const;
  await forEachAtOnce(context.owned.list(owner), REMOVED_AT_ONCE, async ({ id, createdAt }) => {
    if (createdAt > dueMs - ORPHAN_MS) return;
    if (!mayGoOn()) result.isDone = false;
    else {
      const outcome = await endOne(context, id, act).catch((error) => void failures.push(error));
      if (outcome !== undefined) result[outcome]++;
    }
  });
  if (failures.length > 0) throw failures[0];
  return result;
}

/** @returns `undefined`: the image is over, or not stored yet. */
async function endOne(
  context: LifeContext,
  id: string,
  act: Omit<LastAct, "at">,
): Promise<keyof OwnerRemoval | undefined> {
  for (let attempt = 1; ; attempt++) {
    // A damaged record may not name its owner, but the index does.
    const current = await loadAny(context, id);
    if (current === null) return undefined;
    const { gone } = current.record;
    // What a killed process left. Once it is finished, the index does not list it.
    if (gone?.why === "deleted") await sweepImage(context, { id, dueMs: gone.at }, current);
    if (stateAt(current.record, context.settings.now()).isOver) return undefined;
    if (current.record.withheld !== null) return "withheld";
    try {
      await context.guard.confirmBytes();
      const { entry, current: ended } = await markDeleted(context, current, { act });
      // The image is gone already. The sweep removes the bytes that remain here.
      await sweepImage(context, entry, ended).catch(context.settings.onError);
      return "removed";
    } catch (error) {
      if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
