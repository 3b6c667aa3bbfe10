import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { onCode } from "../../errors.ts";
import { hashesOf } from "../record/image-record.ts";
import { stateAt } from "../record/image-state.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { checkWithholding, type WithholdOptions, withholdImage } from "./withhold.ts";

const CHANGED_AT_ONCE = 8;

/**
 * Withholds an image and, with `copies`, the living images of the same bytes, before or after cleaning, and denies later uploads of
 * them. Denies first: an upload under way then finds the denial after its commit, or has its entry in the index before.
 * @throws TypeError for options out of range.
 */
export async function withholdCopies(
  context: LifeContext,
  id: string,
  options: WithholdOptions,
): Promise<void> {
  // Before the first change.
  const { withheld, hasCopies } = checkWithholding(options, context.settings.now());
  const record = hasCopies ? ((await loadAny(context, id))?.record ?? null) : null;
  const hashes = record === null || stateAt(record, context.settings.now()).isOver ? [] : hashesOf(record);
  for (const sha256 of hashes) {
    await context.denied.deny({ sha256, reason: withheld.reason, isLegal: true });
    await context.audit.add("deny", sha256, options);
  }
  await withholdReported(context, id, options);
  const seen = new Set([id]);
  for (const hash of hashes) {
    await forEachAtOnce(context.copies.list(hash), CHANGED_AT_ONCE, async ({ id: copy }) => {
      if (seen.has(copy)) return;
      seen.add(copy);
      if (!(await isCopy(context, copy, hash))) return;
      // `not_found`: it has ended meanwhile.
      await withholdReported(context, copy, options).catch(onCode("not_found", null));
    });
  }
}

/** Withholds an image, which decides its reports. */
async function withholdReported(context: LifeContext, id: string, options: WithholdOptions): Promise<void> {
  await withholdImage(context, id, options);
  await context.reports.settle(id, "withheld", options);
}

/** Whether an image that the index lists is to be withheld as a copy. */
async function isCopy({ records, settings }: LifeContext, id: string, hash: string): Promise<boolean> {
  const record = (await records.load(id).catch(onCode("damaged", null)))?.record ?? null;
  if (record === null || record.withheld !== null || stateAt(record, settings.now()).isOver) return false;
  // The record of an upload that is cleaned has its new hash later than the index.
  return record.processing !== null || hashesOf(record).includes(hash);
}
