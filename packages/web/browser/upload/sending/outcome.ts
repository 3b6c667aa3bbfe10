/** The reply to an upload that was not stored. */
export interface Refusal {
  /** 0: the connection broke before there was one. */
  status: number;
  /** The reason in the server's words; `null` where it gave none. */
  detail: string | null;
  /** Of `Retry-After`; `null` without. */
  retryAfterMs: number | null;
}

/** What follows from a refusal. */
export type Outcome =
  /** The same again, by itself. `busy`: nothing else is to be sent until then, either. */
  | { kind: "again"; cause: "busy" | "broken"; delayMs: number }
  /** `isSettled`: nothing was stored, so that the next attempt is another upload. */
  | { kind: "failed"; message: string; canRetry: boolean; isSettled: boolean };

const MAX_BROKEN = 6;
const MAX_BACKOFF_MS = 15_000;
const DEFAULT_PAUSE_MS = 5_000;

/**
 * @param brokenBefore How many attempts in a row have broken off already.
 */
export function outcomeOf(refusal: Refusal, brokenBefore: number): Outcome {
  const { status, retryAfterMs } = refusal;
  if (status === 429 || status === 503) {
    return { kind: "again", cause: "busy", delayMs: Math.max(1000, retryAfterMs ?? DEFAULT_PAUSE_MS) };
  }
  // The first attempt, whose connection broke, is still at work: its result will be ours.
  const isRunning = status === 409 && retryAfterMs !== null;
  const isBroken = status === 0 || status === 408 || status === 502 || status === 504;
  if ((isRunning || isBroken) && brokenBefore < MAX_BROKEN) {
    const delayMs = retryAfterMs ?? Math.min(MAX_BACKOFF_MS, 1000 * 2 ** brokenBefore);
    return { kind: "again", cause: "broken", delayMs };
  }
  return {
    kind: "failed",
    message: messageOf(refusal),
    canRetry: status !== 413 && status !== 415,
    isSettled: !isRunning && !isBroken && status < 500,
  };
}

function messageOf({ status, detail }: Refusal): string {
  const said = detail === null ? "" : ` The server says: “${detail.replace(/\.$/, "")}.”`;
  const [, message] = MESSAGES.find(([statuses]) => statuses.includes(status)) ?? [];
  if (message !== undefined) return message + said;
  return status >= 500
    ? `Something went wrong on the server.${said}`
    : `The server did not accept this upload.${said}`;
}

const MESSAGES: readonly [statuses: readonly number[], message: string][] = [
  [[0, 408, 502, 504], "The connection broke off several times. Is the network all right?"],
  [[401, 403], "You may not upload here."],
  [[409], "The server is still busy with an earlier attempt of this upload."],
  [[413], "This file is too large for the server."],
  [[415], "The server can’t read this file as an image."],
  [[507], "The server has no room left."],
];

/** The milliseconds of a `Retry-After` header in seconds or as a date; `null` for anything else. */
export function parseRetryAfter(header: string | null, nowMs: number): number | null {
  if (header === null || header.trim() === "") return null;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** The reason in a body of `application/problem+json`; `null` for any other body. */
export function readDetail(body: string): string | null {
  try {
    const problem: unknown = JSON.parse(body);
    const isProblem = typeof problem === "object" && problem !== null && "detail" in problem;
    return isProblem && typeof problem.detail === "string" && problem.detail !== "" ? problem.detail : null;
  } catch {
    // A page of some proxy's.
    return null;
  }
}
