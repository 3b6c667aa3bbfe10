import { forEachAtOnce } from "../../async/for-each-at-once.ts";
import { checkOptions } from "../../check-options.ts";
import { onCode, ServiceError } from "../../errors.ts";
import { flag, type Options, preset } from "../../option-rules.ts";
import { hashesOf, type LastAct } from "../record/image-record.ts";
import { stateAt } from "../record/image-state.ts";
import { ACT_RULES } from "./act-rules.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { logBytes, newAct } from "./settle-act.ts";
import {
  checkWithholding,
  releaseImage,
  takedownOf,
  type WithholdOptions,
  withholdImage,
} from "./withhold.ts";

/** Images that one call changes at once. */
export const CHANGED_AT_ONCE = 32;

/**
 * Withholds an image and, with `copies`, the living images of the same bytes, before or after cleaning, and denies later uploads of
 * them. Denies before it reads the index: an upload under way finds the denial after its commit, or has its entry in the index before.
 * After the failure of a copy it goes on, and rejects in the end. Rejects with `damaged` if the image is withheld, but its copies are unknown.
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
  const { failures, attempt } = attempts();
  const begun = { ...newAct("withhold", options.by), at: withheld.since, hashes };
  // Before the denial, which would end an image that is still processed as refused.
  const act = await withholdImage(context, id, options, begun);
  for (const sha256 of hashes) {
    await context.denied.deny({ sha256, reason: withheld.reason, isLegal: true }, act.id);
    logBytes(context, "denied", { sha256, act: act.id, reason: withheld.reason, by: options.by });
  }
  const copiesOf = copyFinder(context, id);
  const change = (copy: string) => attempt(withholdCopy(context, copy, act, options));
  await Promise.all(hashes.map((hash) => attempt(forEachAtOnce(copiesOf(hash), CHANGED_AT_ONCE, change))));
  if (failures.length > 0) throw failures[0];
  if (!record?.damaged) return;
  throw new ServiceError(
    "damaged",
    `Image ${id} is withheld, but not its copies: its damaged record does not tell its bytes`,
  );
}

/** Withholds an image that the index lists, if it has these bytes. Rejects with `damaged` if its record does not tell. */
async function withholdCopy(
  context: LifeContext,
  id: string,
  act: LastAct,
  options: WithholdOptions,
): Promise<void> {
  const record = (await context.records.load(id))?.record ?? null;
  if (record === null || stateAt(record, context.settings.now()).isOver) return;
  // Of another act.
  if (record.withheld !== null && takedownOf(record)?.id !== act.id) return;
  // The record of an upload that is cleaned has its new hash later than the index.
  const isCopy = record.processing !== null || hashesOf(record).some((hash) => act.hashes?.includes(hash));
  // `not_found`: it has ended meanwhile.
  const given = { ...act, at: context.settings.now() };
  if (isCopy) await withholdImage(context, id, options, given).catch(onCode("not_found", undefined));
}

export const RELEASE_RULES = {
  ...ACT_RULES,
  /** Also releases the copies that the same `withhold` withheld, and accepts uploads of the bytes that it denied. @default false */
  copies: preset(false, flag()),
};

export interface ReleaseOptions extends Options<typeof RELEASE_RULES> {}

/** The result of a release, as lists of IDs. */
export interface Release {
  /** Images that the call released, or that an earlier call for the same act had. */
  released: string[];
  /** Copies that stay withheld, by another act. */
  withheld: string[];
}

/**
 * Releases an image and, with `copies`, all that the act did which withholds it. The image comes last, so that a repetition finishes
 * what is left. After a failure it goes on, and rejects in the end.
 */
export async function releaseCopies(
  context: LifeContext,
  id: string,
  options?: ReleaseOptions,
): Promise<Release> {
  const { by, copies } = checkOptions("release", options, RELEASE_RULES);
  const record = copies ? (await context.records.load(id))?.record : undefined;
  const act = record === undefined ? null : takedownOf(record);
  const { failures, attempt } = attempts();
  const result: Release = { released: [], withheld: [] };
  const denied = new Set(act?.hashes);
  const copiesOf = copyFinder(context, id);
  const change = async (copy: string) => {
    const found = (await context.records.load(copy))?.record;
    if (found === undefined || stateAt(found, context.settings.now()).isOver) return;
    const other = takedownOf(found);
    if (act === null || other?.id !== act.id) {
      if (found.withheld !== null) result.withheld.push(copy);
      return;
    }
    for (const hash of other.hashes ?? []) denied.add(hash);
    await releaseImage(context, copy, { by });
    result.released.push(copy);
  };
  // A set: a copy may have been the first image of a repeated act, with further bytes.
  const hashes = new Set(record === undefined ? [] : [...hashesOf(record), ...denied]);
  for (const hash of hashes) {
    await attempt(forEachAtOnce(copiesOf(hash), CHANGED_AT_ONCE, (copy) => attempt(change(copy))));
    for (const more of denied) hashes.add(more);
    if (act !== null) await attempt(context.denied.withdraw(hash, act.id));
  }
  const { act: released = null } = await releaseImage(context, id, { by, hashes: [...denied] });
  if (copies && released !== null)
    for (const sha256 of denied) logBytes(context, "allowed", { sha256, act: released.id, by });
  if (failures.length > 0) throw failures[0];
  return { ...result, released: [id, ...result.released] };
}

/** What the bytes of an image mean for others. */
export interface SameBytes {
  /** Other images of the same bytes, before or after cleaning, at most 1000. */
  copies: number;
  /** SHA-256 of its bytes whose upload is refused. */
  denied: string[];
}

const MAX_COUNTED = 1000;

/** Reads the indexes alone: an image that a crash left there counts. */
export async function sameBytesOf(context: LifeContext, id: string): Promise<SameBytes> {
  const record = (await loadAny(context, id))?.record;
  const hashes = record === undefined ? [] : hashesOf(record);
  const found: SameBytes = { copies: 0, denied: [] };
  const copiesOf = copyFinder(context, id);
  for (const hash of hashes) {
    if ((await context.denied.find(hash)) !== null) found.denied.push(hash);
    for await (const _ of copiesOf(hash)) if (++found.copies >= MAX_COUNTED) break;
  }
  return found;
}

/** Collects the failures of works that do not depend on each other. */
function attempts() {
  const failures: unknown[] = [];
  const attempt = (work: Promise<void>) => work.catch((error) => void failures.push(error));
  return { failures, attempt };
}

/** Lists the copies of an image by their bytes, each once. */
function copyFinder(context: LifeContext, id: string) {
  const seen = new Set([id]);
  return async function* copiesOf(hash: string) {
    for await (const { id: copy } of context.copies.list(hash)) {
      if (!seen.has(copy)) yield copy;
      seen.add(copy);
    }
  };
}
