import type { Call } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";
import { clientKey } from "../http/client-key.ts";
import type { ImageContext } from "./image-context.ts";
import type { ImageRateLimits } from "./images-options.ts";

type Limit = keyof ImageRateLimits;

/** Counts a request of this client; rejects with `rate_limited` when it was one too many. */
export async function countRequest(context: ImageContext, call: Call, limit: Limit): Promise<void> {
  const rule = context.settings.rules[limit];
  if (rule === null) return;
  const { allowed, resetMs } = await context.limiter.consume(`${limit}:${clientKey(call.clientIp)}`, rule);
  if (!allowed) throw tooMany(resetMs);
}

/**
 * Checks the PIN that a client sent. Missing or wrong rejects with `forbidden` and counts against this client, who after
 * too many of them gets `rate_limited` for the rest of the window, right or wrong: others, the owner among them, are
 * not concerned.
 */
export async function requirePin(context: ImageContext, call: Call, id: string, pin: unknown): Promise<void> {
  const rule = context.settings.rules.pinFailures;
  const key = `pinFailures:${clientKey(call.clientIp)}`;
  if (rule !== null) {
    const { allowed, resetMs } = await context.limiter.peek(key, rule);
    if (!allowed) throw tooMany(resetMs);
  }
  if (typeof pin === "string" && pin !== "" && (await context.pins()).verify(id, pin)) return;
  if (rule !== null) await context.limiter.consume(key, rule);
  throw new ServiceError(
    "forbidden",
    pin === undefined || pin === "" ? "The PIN is missing" : "The PIN is wrong",
  );
}

function tooMany(resetMs: number): ServiceError {
  return new ServiceError("rate_limited", "Too many requests. Wait as Retry-After says.", {
    retryAfterMs: resetMs,
  });
}
