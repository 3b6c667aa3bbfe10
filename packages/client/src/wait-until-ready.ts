import type { ClientSettings } from "./client-options.ts";
import { recordAddress } from "./image-address.ts";
import type { ImageRecord, RequestOptions } from "./image-types.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { readImageRecord } from "./read-image-record.ts";
import { readRefusal } from "./read-refusal.ts";
import { request } from "./repeat.ts";
import type { Reply } from "./reply.ts";
import { backoffMs, MAX_TIMER_MS, obeyedMs, parseRetryAfter, waitFor } from "./waiting.ts";

/** Requests the record. Resolves with a reply 200 or 202; rejects for any other status. */
export async function askRecord(
  settings: ClientSettings,
  id: string,
  { signal }: RequestOptions,
): Promise<Reply> {
  const url = recordAddress(settings.baseUrl, id);
  const sending = { method: "GET", url, headers: { Accept: "application/json" }, signal } as const;
  const { reply } = await request(settings, sending);
  if (reply.status === 200 || reply.status === 202) return reply;
  throw readRefusal(reply);
}

/**
 * Requests the record until the image is ready.
 * @param earlier A reply of this image with 202. Its `Retry-After` is obeyed before the first request.
 */
export async function waitUntilReady(
  settings: ClientSettings,
  id: string,
  options: RequestOptions,
  earlier?: Reply,
): Promise<ImageRecord> {
  const { signal } = options;
  if (earlier !== undefined) await waitAsAsked(settings, earlier, signal);
  for (;;) {
    const reply = await askRecord(settings, id, options);
    if (reply.status === 200) return readImageRecord(reply);
    await waitAsAsked(settings, reply, signal);
  }
}

/**
 * Waits as long as a 202 requests; rejects if that exceeds `maxRetryAfterMs`.
 * @param state The start of the message, such as "The image is still being processed".
 */
export async function waitAsAsked(
  settings: ClientSettings,
  { headers }: Pick<Reply, "headers">,
  signal: AbortSignal | undefined,
  state = IMAGE_STATE,
): Promise<void> {
  const retryAfterMs = parseRetryAfter(headers, Date.now());
  if (retryAfterMs !== null && retryAfterMs > settings.maxRetryAfterMs) {
    throw notReady(`${state}: retry in ${retryAfterMs / 1000} seconds`, retryAfterMs);
  }
  await waitFor(retryAfterMs === null ? backoffMs(2) : obeyedMs(retryAfterMs), signal);
}

/** Aborts `work` after `timeoutMs` with an error of status 202. */
export async function withTimeout<T>(
  timeoutMs: number | undefined,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  // Longer than a timer can wait.
  if (timeoutMs === undefined || timeoutMs > MAX_TIMER_MS) return work(signal);
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(notReady(`${IMAGE_STATE} after ${timeoutMs / 1000} seconds`)),
    timeoutMs,
  );
  try {
    return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

const IMAGE_STATE = "The image is still being processed";

function notReady(detail: string, retryAfterMs: number | null = null): OutriggerError {
  return new OutriggerError({
    status: 202,
    title: "Accepted",
    detail,
    retryAfterMs,
  });
}
