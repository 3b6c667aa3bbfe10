import { quoted, uploadRefusal } from "../../../src/upload-refusal.ts";

/** The reply to an upload that was not stored. */
export interface Refusal {
  /** 0 when the connection broke before a reply. */
  status: number;
  /** The reason in the server's words; `null` when it gave none. */
  detail: string | null;
  /** The delay in `Retry-After`; `null` without the header. */
  retryAfterMs: number | null;
}

/** What to do after a refusal. */
export type Outcome =
  /** Retry automatically. `busy`: send nothing else until then. */
  | { kind: "again"; cause: "busy" | "broken"; delayMs: number }
  /** `isSettled`: nothing was stored, so the next attempt is a new upload. */
  | { kind: "failed"; message: string; canRetry: boolean; isSettled: boolean };

const MAX_BROKEN = 6;
const MAX_BACKOFF_MS = 15_000;
const DEFAULT_PAUSE_MS = 5_000;

/** @param brokenBefore How many attempts in a row lost their connection before. */
export function outcomeOf(refusal: Refusal, brokenBefore: number): Outcome {
  const { status, retryAfterMs } = refusal;
  if (status === 429 || status === 503) {
    return { kind: "again", cause: "busy", delayMs: Math.max(1000, retryAfterMs ?? DEFAULT_PAUSE_MS) };
  }
  // The first attempt lost its connection but still runs. A retry gets its result.
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
  const said = detail === null ? "" : ` ${quoted(detail)}`;
  const message = [0, 408, 502, 504].includes(status)
    ? "The upload failed after several tries. Check your connection and try again."
    : uploadRefusal(status);
  return message + said;
}

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
    // An HTML page of a proxy, for example.
    return null;
  }
}
