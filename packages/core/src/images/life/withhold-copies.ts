import { onCode, ServiceError } from "../../errors.ts";
import { hashesOf } from "../record/image-record.ts";
import { stateAt } from "../record/image-state.ts";
import { changeTogether } from "./change-record.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { checkWithholding, type WithholdOptions, withholdImage } from "./withhold.ts";

/**
 * Withholds an image and, with `copies`, the living images of the same bytes, before or after cleaning, and denies later uploads of
 * them. Denies before it reads the index: an upload under way finds the denial after its commit, or has its entry in the index before.
 * After a failure it goes on, and rejects in the end. Rejects with `damaged` if the image is withheld, but its copies are unknown.
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
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>) => work.catch((error) => void failures.push(error));
  // Before the denial, which would end an image that is still processed as refused.
  await attempt(withholdReported(context, id, options));
  for (const sha256 of hashes) {
    await context.denied.deny({ sha256, reason: withheld.reason, isLegal: true });
    await context.audit.add("deny", sha256, options);
  }
  const seen = new Set([id]);
  async function* copiesOf(hash: string) {
    for await (const { id: copy } of context.copies.list(hash)) {
      if (!seen.has(copy)) yield copy;
      seen.add(copy);
    }
  }
  const change = (copy: string, each: LifeContext) => attempt(withholdCopy(each, copy, hashes, options));
  await Promise.all(hashes.map((hash) => attempt(changeTogether(context, copiesOf(hash), change))));
  if (failures.length > 0) throw failures[0];
  if (!record?.damaged) return;
  throw new ServiceError(
    "damaged",
    `Image ${id} is withheld, but not its copies: its damaged record does not tell its bytes`,
  );
}

/** Withholds an image, which decides its reports. */
async function withholdReported(context: LifeContext, id: string, options: WithholdOptions): Promise<void> {
  await withholdImage(context, id, options);
  await context.reports.settle(id, "withheld", options);
}

/** Withholds an image that the index lists, if it has these bytes. Rejects with `damaged` if its record does not tell. */
async function withholdCopy(
  context: LifeContext,
  id: string,
  hashes: readonly string[],
  options: WithholdOptions,
): Promise<void> {
  const record = (await context.records.load(id))?.record ?? null;
  if (record === null || record.withheld !== null || stateAt(record, context.settings.now()).isOver) return;
  // The record of an upload that is cleaned has its new hash later than the index.
  const isCopy = record.processing !== null || hashesOf(record).some((hash) => hashes.includes(hash));
  // `not_found`: it has ended meanwhile.
  if (isCopy) await withholdReported(context, id, options).catch(onCode("not_found", undefined));
}
