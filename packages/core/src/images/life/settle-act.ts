import { createImageId, type ImageRecord, type LastAct } from "../record/image-record.ts";
import type { LifeContext } from "./create-life.ts";

/** A new act, before its time is known. */
export function newAct(name: LastAct["name"], by?: string): Omit<LastAct, "at"> {
  return { id: createImageId(), name, by };
}

const LOGGED = {
  withhold: "withheld",
  release: "released",
  refuse: "refused",
  remove: "removed",
  removeAll: "removed",
} as const;

/**
 * Does what follows a change that `record` shows: a line in the log, and the decision of its reports. Repeatable:
 * whatever finds the record so may call it, after a crash. Rejects if the reports could not be decided.
 */
export async function settleAct(context: LifeContext, record: ImageRecord): Promise<void> {
  const { reports, settings } = context;
  const { id, act, failure, gone, withheld } = record;
  const isOver = gone !== null || failure !== null;
  const reason = act?.name === "refuse" ? failure : act?.name === "withhold" ? withheld?.reason : undefined;
  const given = { reason: reason ?? undefined, by: act?.by };
  if (act !== undefined) {
    if (act.name === "accept") settings.logStored(record, { act: act.id, by: act.by });
    else {
      const facts = act.name === "withhold" ? withheld : { reason: given.reason, why: gone?.why };
      settings.log.info({ id, ...facts, act: act.id, by: act.by }, `image ${LOGGED[act.name]}`);
    }
  }
  const decision = isOver ? "removed" : act?.name === "withhold" ? "withheld" : null;
  if (decision !== null) await reports.decide(id, { decision, note: given.reason, by: given.by });
}

/** Logs that uploads of some bytes are refused, or no longer. @param act ID of the act */
export function logBytes(
  { settings }: Pick<LifeContext, "settings">,
  done: "denied" | "allowed",
  { sha256, ...given }: { sha256: string; act?: string; reason?: string; by?: string | undefined },
): void {
  const { act = createImageId(), reason, by } = given;
  settings.log.info({ sha256: sha256.toLowerCase(), reason, act, by }, `bytes ${done}`);
}
