import type { Call } from "../../contracts/call.ts";
import type { RateResult, RateRule } from "../../contracts/rate-limiter.ts";
import { ServiceError } from "../../errors.ts";
import { clientKey } from "../../http/client-key.ts";
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
  const result = await context.limiter.consume(`${limit}:${clientKey(call.clientIp)}`, rule);
  if (!result.allowed) throw tooMany(limit, rule, result);
  return limitHeaders(limit, rule, result);
}

/**
 * Checks the PIN of a request. A missing or wrong PIN rejects with `forbidden` and counts against the client. After
 * too many, this client gets 429 for the rest of the window, even with the right PIN. Other clients are not affected.
 */
export async function requirePin(context: ImageContext, call: Call, id: string, pin: unknown): Promise<void> {
  const rule = context.settings.rules.pinFailures;
  const key = `pinFailures:${clientKey(call.clientIp)}`;
  if (rule !== null) {
    const result = await context.limiter.peek(key, rule);
    if (!result.allowed) throw tooMany("pinFailures", rule, result);
  }
  if (typeof pin === "string" && pin !== "" && (await context.library.pins()).verify(id, pin)) return;
  if (rule !== null) await context.limiter.consume(key, rule);
  throw new ServiceError(
    "forbidden",
    pin === undefined || pin === "" ? "The PIN is missing" : "The PIN is wrong",
  );
}

function tooMany(limit: Limit, rule: RateRule, result: RateResult): HttpProblem {
  return new HttpProblem({
    status: 429,
    detail: "Too many requests. Wait for the seconds in Retry-After.",
    headers: { "Retry-After": String(seconds(result.resetMs)), ...limitHeaders(limit, rule, result) },
  });
}

/** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers). */
function limitHeaders(
  limit: Limit,
  rule: RateRule,
  { remaining, resetMs }: RateResult,
): Record<string, string> {
  return {
    "RateLimit-Policy": `"${limit}";q=${rule.limit};w=${seconds(rule.windowMs)}`,
    RateLimit: `"${limit}";r=${remaining};t=${seconds(resetMs)}`,
  };
}

function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000));
}
