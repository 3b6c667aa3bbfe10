import type { Call } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client-key.ts";
import { type Bucket, createClientLimit, refusingBucket } from "../../http/client-limit.ts";
import { HttpProblem } from "../../http/http-problem.ts";
import type { ImageRateLimits } from "../images-options.ts";
import type { ImageContext } from "./image-context.ts";

type Limit = keyof ImageRateLimits;

/**
 * Counts a request against a rate limit of its client. Rejects with 429 beyond the limit.
 * @returns Headers with the state of the limit; none if the limit is off.
 */
export async function countRequest(
  context: ImageContext,
  call: Call,
  limit: Limit,
): Promise<Record<string, string>> {
  const rule = context.settings.rules[limit];
  if (rule === null) return {};
  const client = clientKey(call.clientIp);
  if (limit === "creates") {
    const { own, refusing } = await createClientLimit(context.limiter, limit, rule).count(client);
    if (refusing !== undefined) throw tooMany(limit, refusing);
    return limitHeaders(limit, own);
  }
  const bucket = { rule, ...(await context.limiter.consume(`${limit}:${client}`, rule)) };
  if (!bucket.allowed) throw tooMany(limit, bucket);
  return limitHeaders(limit, bucket);
}

/** Gives back what {@link countRequest} counted. */
export async function refundRequest(context: ImageContext, call: Call, limit: "creates"): Promise<void> {
  const rule = context.settings.rules[limit];
  if (rule !== null) await createClientLimit(context.limiter, limit, rule).refund(clientKey(call.clientIp));
}

/** Whether {@link countReadNow} can count. */
export function countsNow({ settings, limiter }: ImageContext): boolean {
  return settings.rules.reads === null || limiter.consumeNow !== undefined;
}

/** Counts a read as {@link countRequest} does, without a promise. @returns `false`: refused or failed; nothing was counted. */
export function countReadNow({ settings, limiter }: ImageContext, call: Call): boolean {
  const rule = settings.rules.reads;
  if (rule === null) return true;
  try {
    return limiter.consumeNow?.(`reads:${clientKey(call.clientIp)}`, rule).allowed === true;
  } catch {
    // `countRequest` fails in the same way, and its caller reports it.
    return false;
  }
}

/**
 * Checks the PIN of a request. A missing or wrong PIN rejects with `forbidden` and counts against the client. After
 * too many, this client gets 429 for the rest of the window, even with the right PIN. Clients of other networks are not
 * affected: their first attempt is always checked.
 */
export async function requirePin(context: ImageContext, call: Call, id: string, pin: unknown): Promise<void> {
  const rule = context.settings.rules.pinFailures;
  const client = clientKey(call.clientIp);
  const failures = rule === null ? null : createClientLimit(context.limiter, "pinFailures", rule);
  const refusing = refusingBucket((await failures?.look(client)) ?? [], ({ allowed }) => !allowed);
  if (refusing !== undefined) throw tooMany("pinFailures", refusing);
  if (typeof pin === "string" && pin !== "" && (await context.library.pins()).verify(id, pin)) return;
  await failures?.charge(client, 1);
  throw new ServiceError(
    "forbidden",
    pin === undefined || pin === "" ? "The PIN is missing" : "The PIN is wrong",
  );
}

type BucketState = Pick<Bucket, "rule" | "remaining" | "resetMs">;

function tooMany(limit: Limit, bucket: BucketState): HttpProblem {
  return new HttpProblem({
    status: 429,
    detail: "Too many requests. Wait for the seconds in Retry-After.",
    headers: { "Retry-After": String(seconds(bucket.resetMs)), ...limitHeaders(limit, bucket) },
  });
}

/**
 * `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). The window of a bucket is the time in which
 * an empty one fills.
 */
function limitHeaders(limit: Limit, { rule, remaining, resetMs }: BucketState): Record<string, string> {
  const { limit: perWindow, windowMs, burst: quota = perWindow } = rule;
  return {
    "RateLimit-Policy": `"${limit}";q=${quota};w=${seconds((quota / perWindow) * windowMs)}`,
    RateLimit: `"${limit}";r=${remaining};t=${seconds(resetMs)}`,
  };
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
