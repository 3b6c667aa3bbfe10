import type { Call } from "../contracts/call.ts";
import type { Problem } from "../http/problem.ts";
import type { ImageContext } from "./image-context.ts";
import { whyGone } from "./image-record.ts";
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

/** The record of a living image. Rejects with the problem that its life makes: 404, 410. */
export async function findImage(context: ImageContext, call: Call, id: string): Promise<CurrentRecord> {
  const current = context.records.peek(id) ?? (await context.records.load(id, call.signal));
  if (current === null) throw new HttpProblem({ status: 404, detail: "There is no such image." });
  requireAlive(context, current);
  return current;
}

/** Rejects with 410 for an image that was deleted or has expired. */
export function requireAlive(context: ImageContext, { record }: CurrentRecord): void {
  const reason = whyGone(record, context.settings.now());
  if (reason !== null) throw new HttpProblem({ status: 410, detail: reason });
}
