import type { ClientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import type { Reply } from "./reply.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { backoffMs, obeyedMs, waitFor } from "./waiting.ts";

/** Which tries are repeated. */
export interface RepeatRules {
  /**
   * Whether it does no harm to do it twice, so that it is repeated where an earlier try may have been done: after a failure of
   * the network, 502, 503 and 504. Else only after 429, which says that nothing was done.
   */
  isRepeatable: boolean;
  /** Whether 409 with `Retry-After` says that an earlier try is still under way. @default false */
  isClaimed?: boolean;
  signal?: AbortSignal | undefined;
}

export interface Outcome<R> {
  reply: R;
  /** Whether an earlier try, whose answer did not come, may have been done. */
  mayBeDone: boolean;
}

/** An earlier try may be told for dead only after 15 seconds, and each 409 asks for two: these are not failures. */
const MAX_CLAIMED_REPEATS = 10;
const UNSURE: readonly number[] = [502, 503, 504];

/**
 * Tries until there is an answer that does not say "later", and resolves with it, or with the last refusal when that was tried
 * often enough, or is to be waited for longer than the caller wants. Rejects with the last failure of the network, and with
 * the signal's reason.
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
