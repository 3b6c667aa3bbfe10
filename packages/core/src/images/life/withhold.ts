import { checkOptions } from "../../check-options.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import { flag, type Options, preset, shape, text } from "../../option-rules.ts";
import { parsedUrl } from "../../parsed-url.ts";
import type { ImageRecord, LastAct, Withholding } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { addNextSweep, stateAt } from "../record/image-state.ts";
import { REASON_RULE } from "../record/inspect-rules.ts";
import { ACT_RULES } from "./act-rules.ts";
import { changeRecord, MAX_ATTEMPTS } from "./change-record.ts";
import type { LifeContext } from "./create-life.ts";
import { loadAny } from "./damaged-image.ts";
import { newAct, settleAct } from "./settle-act.ts";

/**
 * Withholds an image: once this resolves, every read that starts gets 451, on every process. A repeated call replaces
 * reason, authority and date, and finishes what the first left. An image whose record is damaged can be withheld too. Rejects with
 * `not_found` if the image is unknown or gone.
 * @param given The act, which an image that is withheld replaces by its own. @returns the act in its record
 * @throws TypeError for options out of range.
 */
export async function withholdImage(
  context: LifeContext,
  id: string,
  options: WithholdOptions,
  given: LastAct,
): Promise<LastAct> {
  const { withheld: asked } = checkWithholding(options, given.at);
  const apply = (record: ImageRecord): ImageRecord => {
    const before = record.withheld === null ? null : takedownOf(record);
    const withheld = { ...asked, since: record.withheld?.since ?? asked.since };
    const isSame = before !== null && JSON.stringify(withheld) === JSON.stringify(record.withheld);
    const { id: actId, hashes: denied = [] } = before ?? given;
    const hashes = [...new Set([...denied, ...(given.hashes ?? [])])];
    if (isSame && hashes.length === denied.length) return record;
    return { ...record, withheld, act: { ...(isSame ? before : given), id: actId, hashes } };
  };
  const { record } = await change(context, () => loadAny(context, id), apply);
  await settleAct(context, record).catch(context.settings.onError);
  return record.act ?? given;
}

/** The act that withholds an image, or withheld it before its release. `null`: there is none, or it is not known. */
export function takedownOf({ act, withheld }: ImageRecord): LastAct | null {
  return act?.name === (withheld === null ? "release" : "withhold") ? act : null;
}

/**
 * Undoes {@link withholdImage}. An image that is not withheld stays unchanged; one with a damaged record counts as
 * damaged again. Rejects with `not_found`, and with `damaged`. @returns its record
 */
export async function releaseImage(
  context: LifeContext,
  id: string,
  { by, hashes }: Pick<LastAct, "by" | "hashes">,
): Promise<ImageRecord> {
  const at = context.settings.now();
  const apply = (record: ImageRecord): ImageRecord => {
    if (record.withheld === null) return record;
    const act = { ...(takedownOf(record) ?? newAct("release")), name: "release" as const, at, by };
    return {
      ...record,
      withheld: null,
      wasReleased: true,
      act: { ...act, hashes: hashes ?? act.hashes ?? [] },
    };
  };
  const { record } = await change(context, () => context.records.load(id), apply);
  if (takedownOf(record) !== null) await settleAct(context, record).catch(context.settings.onError);
  return record;
}

async function change(
  context: LifeContext,
  load: () => Promise<CurrentRecord | null>,
  apply: (record: ImageRecord) => ImageRecord,
): Promise<CurrentRecord> {
  for (let attempt = 1; ; attempt++) {
    const current = await load();
    if (current === null || stateAt(current.record, context.settings.now()).isOver) {
      throw new ServiceError("not_found", "There is no such image, or it is gone");
    }
    const { damaged = false } = current.record;
    // The sweep time in the damaged record is unknown.
    if (damaged) await addNextSweep(context.due, current.record, context.settings.tombstoneMs);
    try {
      return await changeRecord(context, current, apply(current.record));
    } catch (error) {
      if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

const RULES = {
  /** Detail of the 451 reply, 1 to 1000 characters. */
  reason: REASON_RULE,
  /**
   * Absolute http(s) URL of the blocking party, such as your own page about the demand. Sent as `Link: <…>;
   * rel="blocked-by"`. RFC 7725 §4: the party that implements the block, not the one that demands it.
   */
  authority: text("an absolute http(s) URL", isHttpUrl),
  /** When the image is removed for good, in the future. @default its expiry; never, if it has none */
  deleteAfter: shape<Date>("a date in the future", "getTime"),
  ...ACT_RULES,
  /**
   * Also withholds the other images of the same bytes, as they were uploaded or after cleaning, and denies later uploads of them,
   * with 451. A release with `copies` undoes it. @default false
   */
  copies: preset(false, flag()),
};

/** Reason and duration of withholding an image. */
export interface WithholdOptions extends Options<typeof RULES> {}

/** @throws TypeError for options out of range. */
export function checkWithholding(
  options: WithholdOptions,
  now: number,
): { withheld: Withholding; hasCopies: boolean } {
  const { reason, authority, deleteAfter, copies } = checkOptions("withhold", options, RULES);
  if (deleteAfter !== undefined && !(deleteAfter.getTime() > now)) {
    throw new TypeError("withhold: deleteAfter must be a date in the future");
  }
  const withheld = {
    reason,
    // Normalised for use in a header.
    authority: authority === undefined ? null : new URL(authority).href,
    since: now,
    deleteAfter: deleteAfter?.getTime() ?? null,
  };
  return { withheld, hasCopies: copies };
}

function isHttpUrl(given: string): boolean {
  return /^https?:$/.test(parsedUrl(given)?.protocol ?? "");
}
