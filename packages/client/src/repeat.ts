import type { ClientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import type { Reply } from "./reply.ts";
import { type Sending, send } from "./send.ts";
import { backoffMs, obeyedMs, parseRetryAfter, waitFor } from "./waiting.ts";

/** Which failures are retried. */
export interface RepeatRules {
  /**
   * Whether the request is safe to execute twice. If so, it is retried even if an earlier try may have succeeded: after a
   * network failure, 502, 503 and 504. Otherwise it is retried only after 429, which proves that nothing was done.
   */
  isRepeatable: boolean;
  /** Whether 409 with `Retry-After` means that an earlier try is still in progress. @default false */
  isClaimed?: boolean;
  signal?: AbortSignal | undefined;
}

export interface Outcome<R> {
  reply: R;
  /** Whether an earlier try without a reply may have succeeded. */
  mayBeDone: boolean;
}

/** An earlier try counts as dead only after 15 s, and each 409 requests 2 s: these retries are not failures. */
const MAX_CLAIMED_REPEATS = 10;
const UNSURE: readonly number[] = [502, 503, 504];

/**
 * Retries until a reply is final, and resolves with it. Resolves with the last refusal after `maxRetries`, or if its
 * `Retry-After` exceeds `maxRetryAfterMs`. Rejects with the last network failure, and with the reason of an aborted signal.
 */
export async function repeat<R extends Pick<Reply, "status" | "headers">>(
  settings: ClientSettings,
  { isRepeatable, isClaimed = false, signal }: RepeatRules,
  attempt: () => Promise<R | OutriggerError>,
): Promise<Outcome<R>> {
  let failures = 0;
  let claims = 0;
  let mayBeDone = false;
  for (;;) {
    signal?.throwIfAborted();
    const result = await attempt();
    const { status } = result;
    const retryAfterMs =
      result instanceof OutriggerError ? null : parseRetryAfter(result.headers, Date.now());
    const isUnderWay = isClaimed && status === 409 && retryAfterMs !== null;
    const isUnsure = status === 0 || UNSURE.includes(status);
    const mayRepeat = isUnderWay
      ? settings.maxRetries > 0 && claims++ < MAX_CLAIMED_REPEATS
      : (status === 429 || (isUnsure && isRepeatable)) && failures++ < settings.maxRetries;
    if (!mayRepeat || (retryAfterMs ?? 0) > settings.maxRetryAfterMs) {
      if (result instanceof OutriggerError) throw result;
      return { reply: result, mayBeDone };
    }
    mayBeDone ||= isUnsure;
    await waitFor(retryAfterMs === null ? backoffMs(failures) : obeyedMs(retryAfterMs), signal);
  }
}

/** Sends a request until a reply is final, like {@link repeat}. @param isRepeatable Whether it is safe to execute twice. */
export function request(
  settings: ClientSettings,
  sending: Sending,
  isRepeatable = true,
): Promise<Outcome<Reply>> {
  return repeat(settings, { isRepeatable, signal: sending.signal }, () => send(settings, sending));
}
