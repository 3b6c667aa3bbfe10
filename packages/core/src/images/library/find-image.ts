import type { Call } from "../../contracts/call.ts";
import { HttpProblem } from "../../http/http-problem.ts";
import type { ImageContext } from "../http/image-context.ts";
import { type Audience, permitRead } from "../http/permissions.ts";
import { endWhereDue } from "../life/change-record.ts";
import { type Unavailable, whyUnavailable } from "../life/image-life.ts";
import type { ImageRecord } from "../record/image-record.ts";
import type { CurrentRecord } from "../record/image-records.ts";

const UNKNOWN: Unavailable = { status: 404, detail: "There is no such image." };

/** Not a refusal: there is an image, and nothing to be had of it yet. */
export class StillProcessing extends Error {
  readonly record: ImageRecord;

  constructor(record: ImageRecord) {
    super("The image is still being processed");
    this.name = "StillProcessing";
    this.record = record;
  }
}

/** An image for a client that may see it. */
export interface Viewing {
  current: CurrentRecord;
  audience: Audience;
}

/**
 * The record of a living image for who wants to see something of it. Rejects as its life says (404, 451, 410), then with
 * `forbidden`, and last with {@link StillProcessing}: whoever may not see an image is not told how far it is either.
 */
export async function findForRead(context: ImageContext, call: Call, id: string): Promise<Viewing> {
  const current = await findImage(context, call, id);
  const audience = await permitRead(context, call, current.record);
  // The host may have taken its time to decide.
  if (context.settings.authorize !== null) await requireAlive(context, current);
  if (current.record.processing !== null) throw new StillProcessing(current.record);
  return { current, audience };
}

/**
 * The record of a living image that can be served. Rejects as its life says: 404, 451, 410, {@link StillProcessing}, in
 * this order.
 */
export async function findReadyImage(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  const alive = await findImage(context, call, id);
  if (alive.record.processing !== null) throw new StillProcessing(alive.record);
  return alive;
}

/** The record of a living image, ready or not. Rejects with the problem that its life makes: 404, 451, 410. */
export async function findImage(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  const current = context.records.peek(id) ?? (await context.records.load(id, call.signal));
  if (current === null) throw new HttpProblem(UNKNOWN);
  await requireAlive(context, current);
  return current;
}

/** Rejects with the problem that the life of an image makes: 404, 451, 410. */
export async function requireAlive(context: ImageContext, current: CurrentRecord): Promise<void> {
  const { now, tombstoneMs } = context.settings;
  const nowMs = now();
  if (whyUnavailable(current.record, nowMs, tombstoneMs) === null) return;
  const ended = await writeEndDown(context, current);
  const refusal = ended === null ? UNKNOWN : whyUnavailable(ended.record, nowMs, tombstoneMs);
  if (refusal !== null) throw new HttpProblem(problemOf(refusal));
  return requireAlive(context, ended ?? current);
}

/**
 * Whoever was told once that an image has expired is never told otherwise, also when the clock is set back.
 * @returns the record as it is then: `current` may be from a while ago, and somebody else may have changed it.
 */
async function writeEndDown(context: ImageContext, current: CurrentRecord): Promise<CurrentRecord | null> {
  try {
    return await endWhereDue(context, current);
  } catch (error) {
    // A store that cannot be written does not bring the image back.
    context.settings.onError(error);
    return current;
  }
}

function problemOf({ status, detail, authority }: Unavailable) {
  // RFC 7725 §4.
  const isNamed = authority !== undefined && authority !== null;
  return { status, detail, ...(isNamed ? { headers: { Link: `<${authority}>; rel="blocked-by"` } } : {}) };
}
