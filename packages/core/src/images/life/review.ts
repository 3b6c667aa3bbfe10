import { checkOptions } from "../../check-options.ts";
import { isServiceError, ServiceError } from "../../errors.ts";
import type { ImageRecord, LastAct } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { stateAt, unknownImage } from "../record/image-state.ts";
import { REASON_RULE } from "../record/inspect-rules.ts";
import { ACT_RULES, type ActOptions } from "./act-rules.ts";
import { changeRecord, MAX_ATTEMPTS } from "./change-record.ts";
import type { LifeContext } from "./create-life.ts";
import { sweepImage } from "./end-image.ts";
import { newAct, settleAct } from "./settle-act.ts";

/** Serves a held image from now on. Its life starts now. Rejects with `conflict` for an image that is not held. */
export async function acceptImage(context: LifeContext, id: string, options?: ActOptions): Promise<void> {
  const { by } = checkOptions("accept", options, ACT_RULES);
  const { record } = await decide(context, id, newAct("accept", by), (decided) => decided);
  await settleAct(context, record).catch(context.settings.onError);
}

/**
 * Refuses a held image: its addresses answer 404 with the reason, as those of a rejected upload, and its bytes are removed. Rejects
 * with `conflict` for an image that is not held.
 * @throws TypeError for a reason that is empty or too long.
 */
export async function refuseImage(
  context: LifeContext,
  id: string,
  reason: string,
  options?: ActOptions,
): Promise<void> {
  const { by } = checkOptions("refuse", options, ACT_RULES);
  const { reason: failure } = checkOptions("refuse", { reason }, { reason: REASON_RULE });
  const { due, settings } = context;
  const entry = { id, dueMs: settings.now() };
  const apply = (decided: ImageRecord) => ({ ...decided, failure });
  const refused = await decide(context, id, newAct("refuse", by), apply, () => due.add(entry));
  // The image is refused already. The sweep removes the bytes that remain here.
  await sweepImage(context, entry, refused).catch(settings.onError);
}

/** Ends the review of a held image: of two decisions, one wins. @param prepare Called before the record changes. */
async function decide(
  context: LifeContext,
  id: string,
  act: Omit<LastAct, "at">,
  apply: (record: ImageRecord) => ImageRecord,
  prepare: () => Promise<void> = async () => undefined,
): Promise<CurrentRecord> {
  const { records, settings } = context;
  for (let attempt = 1; ; attempt++) {
    const current = await records.load(id);
    if (current === null) throw unknownImage();
    const { name } = stateAt(current.record, settings.now());
    if (name !== "held") {
      // What a killed process left of this act.
      if (current.record.act?.name === act.name)
        await settleAct(context, current.record).catch(settings.onError);
      throw new ServiceError("conflict", `The image is not held: it is ${name}`);
    }
    const { held: _held, ...others } = current.record;
    const record = { ...others, act: { ...act, at: settings.now() } };
    const { createdAt, expiresAt } = record;
    try {
      await prepare();
      const expiry = expiresAt === null ? null : settings.now() + expiresAt - createdAt;
      return await changeRecord(context, current, apply({ ...record, expiresAt: expiry }));
    } catch (error) {
      if (!isServiceError(error, "conflict") || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
