import { isObject } from "./checks.ts";
import type { ClientSettings } from "./client-options.ts";
import { OutriggerError } from "./outrigger-error.ts";
import { jsonOf, parseRetryAfter, type Reply, readRefusal, readReply } from "./reply.ts";

/** A request that may be sent several times. */
export interface Sending {
  /** @default "GET" */
  method?: "GET" | "HEAD" | "POST" | "PATCH" | "DELETE" | undefined;
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
  body?: BodyInit;
  /** Whether a browser completes the request after its page is closed. */
  keepalive?: boolean | undefined;
  /** Whether the caller reads the body of a reply 200. @default false */
  isStreamed?: boolean;
  signal?: AbortSignal | undefined;
  /** Statuses of a success; any other rejects. @default [200] */
  expected?: readonly number[];
  /** Texts that are removed from an error, since the reply may quote them. */
  secrets?: readonly string[];
  /**
   * Whether the request is safe to execute twice. If so, it is retried even if an earlier try may have succeeded: after a
   * network failure, 502, 503 and 504. Otherwise it is retried only after 429, which proves that nothing was done.
   * @default true
   */
  isRepeatable?: boolean;
  /** Whether 409 with `Retry-After` means that an earlier try is still in progress. @default false */
  isClaimed?: boolean;
}

/** An earlier try counts as dead only after 15 s, and each 409 requests 2 s: these retries are not failures. */
const MAX_CLAIMED_REPEATS = 10;
/** 423: an earlier try of a resumable upload still runs. */
const UNSURE: readonly number[] = [0, 423, 502, 503, 504];
const FIRST_BACKOFF_MS = 500;
const MAX_BACKOFF_MS = 30_000;
/** Fraction added to `Retry-After`, so that clients with the same value do not retry at the same time. */
const JITTER = 0.1;
const MAX_JITTER_MS = 1_000;
/** The longest delay of a timer; a longer one fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Longest `Retry-After` to wait for. With a longer one, the call rejects at once. */
const MAX_RETRY_AFTER_MS = 60_000;
/** Shortest wait, even after `Retry-After: 0`. */
const SHORTEST_MS = 100;

/**
 * Sends a request until its reply is final, and resolves with an expected one. Rejects with the last refusal or network failure
 * after `maxRetries`, or if its `Retry-After` exceeds a minute; and with the reason of an aborted signal.
 * @param attempt Sends the request once. It resolves with a network failure, and rejects for what a retry cannot cure.
 * @returns `mayBeDone`: whether an earlier try without a reply may have succeeded.
 */
export async function request(
  settings: ClientSettings,
  sending: Sending,
  attempt: () => Promise<Reply> = () => send(settings, sending),
): Promise<Reply & { mayBeDone: boolean }> {
  const { signal, expected = [200], secrets, isRepeatable = true, isClaimed = false } = sending;
  let failures = 0;
  let claims = 0;
  let mayBeDone = false;
  for (;;) {
    signal?.throwIfAborted();
    const reply = await attempt();
    const { status } = reply;
    if (reply.hasProgressed) failures = 0;
    const retryAfterMs = parseRetryAfter(reply.headers, Date.now());
    const isUnsure = UNSURE.includes(status);
    const mayRepeat =
      isClaimed && status === 409 && retryAfterMs !== null
        ? settings.maxRetries > 0 && claims++ < MAX_CLAIMED_REPEATS
        : (status === 429 || (isUnsure && isRepeatable)) && failures++ < settings.maxRetries;
    if (!mayRepeat || (retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS) {
      if (expected.includes(status)) return { ...reply, mayBeDone };
      throw readRefusal(reply, secrets);
    }
    mayBeDone ||= isUnsure;
    await waitFor(delayMs(retryAfterMs, failures), signal);
  }
}

/**
 * Sends a read again, as long as its reply is 202. Resolves with the reply 200.
 * @param more `state`: the start of the message if a 202 requests a wait of more than a minute, by default that of an
 * image. `earlier`: a reply with 202 whose `Retry-After` is obeyed before the first request.
 */
export async function requestUntilReady(
  settings: ClientSettings,
  sending: Sending,
  { state = IMAGE_STATE, earlier }: { state?: string; earlier?: Reply } = {},
): Promise<Reply> {
  let reply = earlier;
  for (;;) {
    if (reply?.status === 200 || (reply !== undefined && isHeld(reply))) return reply;
    if (reply !== undefined) {
      const retryAfterMs = parseRetryAfter(reply.headers, Date.now());
      if (retryAfterMs !== null && retryAfterMs > MAX_RETRY_AFTER_MS) {
        throw notReady(`${state}: retry in ${retryAfterMs / 1000} seconds`, retryAfterMs);
      }
      await waitFor(delayMs(retryAfterMs, 2), sending.signal);
    }
    reply = await request(settings, { ...sending, expected: [200, 202] });
  }
}

/** Whether a reply is that of an image that waits for review, which may take days. */
export function isHeld(reply: Reply): boolean {
  return reply.status === 202 && jsonOf(reply)?.status === "held";
}

const IMAGE_STATE = "The image is still being processed";

export function notReady(detail: string, retryAfterMs: number | null = null): OutriggerError {
  return new OutriggerError({ status: 202, title: "Accepted", detail, retryAfterMs });
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
  const error = notReady(`${IMAGE_STATE} after ${timeoutMs / 1000} seconds`);
  const timer = setTimeout(() => late.abort(error), timeoutMs);
  try {
    return await work(signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The wait before the next try: never shorter than `Retry-After`. Without it, the wait doubles with each try, and half of it is
 * random.
 */
export function delayMs(retryAfterMs: number | null, tries: number): number {
  if (retryAfterMs !== null) {
    const jitterMs = Math.min(MAX_JITTER_MS, retryAfterMs * JITTER);
    return Math.max(SHORTEST_MS, retryAfterMs) + Math.random() * jitterMs;
  }
  const ms = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (tries - 1));
  return ms / 2 + Math.random() * (ms / 2);
}

/** Resolves after `ms`; rejects with the signal's reason as soon as that aborts. */
export function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/**
 * Options that stop `fetch` of Node from buffering a streamed body for a second send. It buffers if a redirect or a prompt for
 * credentials is possible. With credentials, a 401 would be a network failure.
 */
const STREAMING: RequestInit & { duplex: "half" } = {
  // Required by the Fetch standard for streams; the DOM types lack it.
  duplex: "half",
  credentials: "omit",
  redirect: "error",
  window: null,
};

/**
 * Sends a request once with `fetch`. Resolves with the complete reply or the network failure. Rejects with the reason of an
 * aborted signal.
 */
export async function send(settings: ClientSettings, sending: Sending): Promise<Reply> {
  const { method = "GET", url, body, keepalive, isStreamed, signal } = sending;
  // Outside the try block: an invalid request is a mistake of the caller, not a network failure.
  const init: RequestInit = {
    method,
    headers: headersOf(settings, sending),
    // Not followed: the target must not receive the PIN or the key.
    redirect: "manual",
    ...(body === undefined ? {} : { body }),
    ...(body instanceof ReadableStream ? STREAMING : {}),
    ...(keepalive === undefined ? {} : { keepalive }),
    ...(signal === undefined ? {} : { signal }),
  };
  // Its target is hidden by browsers, and from a streamed request by Node.
  const redirect = () => readReply(new Response(null, { status: 302 }));
  try {
    const response = await settings.fetch(url, init);
    return await (response.type === "opaqueredirect" ? redirect() : readReply(response, isStreamed));
  } catch (error) {
    signal?.throwIfAborted();
    const reply = failedReply(url, error);
    return /unexpected redirect/i.test(reply.failure.detail) ? redirect() : reply;
  }
}

export function headersOf(settings: ClientSettings, { headers = {} }: Sending): Headers {
  const all = new Headers(settings.headers);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return all;
}

/** A network failure in place of a reply. */
export function failedReply(url: string, cause: unknown): Reply & { failure: OutriggerError } {
  const detail = `No complete reply from ${new URL(url).origin}: ${reasonOf(cause)}`;
  const failure = new OutriggerError({ status: 0, title: "No reply", detail, cause });
  return { status: 0, statusText: "", headers: new Headers(), text: "", failure };
}

/** The message of the innermost cause: Node wraps the error of the operating system. */
function reasonOf(cause: unknown): string {
  // Not checked by class: the error may come from another realm.
  if (!isObject(cause)) return String(cause);
  if (isObject(cause.cause)) return reasonOf(cause.cause);
  return String(cause.message || cause.code || cause.name);
}
