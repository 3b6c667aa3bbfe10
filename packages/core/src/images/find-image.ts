import type { Call } from "../contracts/call.ts";
import type { Problem } from "../http/problem.ts";
import type { ImageContext } from "./image-context.ts";
import { type ImageRecord, whyGone } from "./image-record.ts";
import type { CurrentRecord } from "./image-records.ts";

/** A refusal that no ServiceError code stands for: the life of the resource, and preconditions. */
export class HttpProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "HttpProblem";
    this.problem = problem;
  }
}

/** Not a refusal: there is an image, and nothing to be had of it yet. */
export class StillProcessing extends Error {
  readonly record: ImageRecord;

  constructor(record: ImageRecord) {
    super("The image is still being processed");
    this.name = "StillProcessing";
    this.record = record;
  }
}

/** The record of a living image that can be served. Rejects as its life says: 404, 410, {@link StillProcessing}. */
export async function findReadyImage(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  const current = context.records.peek(id) ?? (await context.records.load(id, call.signal));
  const alive = requireImage(context, current);
  if (alive.record.processing !== null) throw new StillProcessing(alive.record);
  return alive;
}

/** The record of a living image, ready or not. Rejects with the problem that its life makes: 404, 410. */
export async function findImage(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  return requireImage(context, context.records.peek(id) ?? (await context.records.load(id, call.signal)));
}

function requireImage(context: ImageContext, current: CurrentRecord | null): CurrentRecord {
  if (current === null) throw new HttpProblem({ status: 404, detail: "There is no such image." });
  // Before its expiry: it never came to be, so that it is not gone either.
  const { failure } = current.record;
  if (failure !== null) throw new HttpProblem({ status: 404, detail: failure });
  requireAlive(context, current);
  return current;
}

/** Rejects with 410 for an image that was deleted or has expired. */
export function requireAlive(context: ImageContext, { record }: CurrentRecord): void {
  const reason = whyGone(record, context.settings.now());
  if (reason !== null) throw new HttpProblem({ status: 410, detail: reason });
}
