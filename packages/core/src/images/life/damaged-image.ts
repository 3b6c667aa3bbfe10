import { onCode } from "../../errors.ts";
import { expiryAfter } from "../record/image-fields.ts";
import { type ImageRecord, jsonIn } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";
import { stateAt, unknownImage, whyUnavailable } from "../record/image-state.ts";
import { hasField } from "../record/record-codec.ts";
import type { LifeContext } from "./create-life.ts";
import { settleAct } from "./settle-act.ts";

/** The readable parts of a damaged record. */
export interface Remains extends Pick<ImageRecord, "owner" | "withheld"> {
  /** Whether its bytes say that the image had ended. */
  hadEnded: boolean;
  /** Whether its bytes say that the image was withheld. */
  wasWithheld: boolean;
  /** Whether its bytes say that the image never expires. */
  wasForEver: boolean;
}

/**
 * Loads the record of an image. For an unreadable record, returns a substitute at the same revision, so that the
 * image can be ended or withheld by compare-and-set. `null`: there is no record.
 */
export async function loadAny(context: LifeContext, id: string): Promise<CurrentRecord | null> {
  for (;;) {
    const current = await context.records.load(id).catch(onCode("damaged", "damaged"));
    if (current !== "damaged") return current;
    const damaged = await context.records.loadDamaged(id);
    // `null`: another process has replaced the record meanwhile.
    if (damaged !== null) return { record: standIn(context, id, damaged), revision: damaged.revision };
  }
}

/** Like {@link loadAny}. Rejects like {@link whyUnavailable} if there is no such image, or if it has ended for good. */
export async function loadNotOver(context: LifeContext, id: string): Promise<CurrentRecord> {
  const { settings } = context;
  const current = await loadAny(context, id);
  if (current === null) throw unknownImage();
  const nowMs = settings.now();
  const { isOver } = stateAt(current.record, nowMs);
  const why = isOver ? whyUnavailable(current.record, nowMs, settings.tombstoneMs) : null;
  if (why === null) return current;
  // What a killed process left of this act.
  if (current.record.act?.name === "remove") await settleAct(context, current.record).catch(settings.onError);
  throw why;
}

const NOTHING_KNOWN = {
  name: "",
  type: "image/png",
  size: 0,
  sha256: "",
  width: null,
  height: null,
  pages: null,
  agent: null,
  gone: null,
  processing: null,
  failure: null,
} as const;

/** The substitute of a damaged record, with the longest possible life. */
export function standIn({ settings }: LifeContext, id: string, { bytes }: { bytes: Buffer }): ImageRecord {
  const { owner, withheld, wasForEver } = remainsOf(bytes);
  const now = settings.now();
  const expiresAt = wasForEver ? null : expiryAfter(now, settings.maxLifetimeMs);
  const dates = { createdAt: now, updatedAt: now, expiresAt };
  return { ...NOTHING_KNOWN, id, owner, withheld, ...dates, damaged: true };
}

/** Reads the remains of a damaged record: whole fields if it is JSON, else traces in its text. */
export function remainsOf(bytes: Buffer): Remains {
  const value = jsonIn(bytes);
  const owner = hasField(value, "owner") ? (value.owner ?? null) : null;
  const withheld = hasField(value, "withheld") ? (value.withheld ?? null) : null;
  // Quotes in a user's text are escaped, so no name can look like a field.
  const text = bytes.toString("latin1");
  const hadEnded = /"gone":\{|"sha256":""|"failure":"/.test(text);
  const wasWithheld = withheld !== null || /"withheld":\{/.test(text);
  return { owner, withheld, hadEnded, wasWithheld, wasForEver: text.includes('"expiresAt":null') };
}
