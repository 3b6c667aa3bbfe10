import type { OutriggerError } from "@outrigger/client";
import { t } from "../../../src/texts.ts";
import { quoted, uploadRefusal } from "../../../src/upload-refusal.ts";

/** The reply to an upload that was not stored; status 0 when the connection broke before a reply. */
export type Refusal = Pick<OutriggerError, "status" | "detail" | "retryAfterMs">;

/** What to do after a refusal. */
export type Outcome =
  /** Retry automatically. `busy`: send nothing else until then. */
  | { kind: "again"; cause: "busy" | "broken"; delayMs: number }
  /** `isSettled`: nothing was stored, so the next attempt is a new upload. */
  | { kind: "failed"; message: string; canRetry: boolean; isSettled: boolean; status: number };

const MAX_BROKEN = 6;
const MAX_BACKOFF_MS = 15_000;
const DEFAULT_PAUSE_MS = 5_000;

/** Statuses without a reply of the service, and 423: the broken attempt before is still received. */
const BROKEN: readonly number[] = [0, 408, 423, 502, 504];

/** Statuses of a file that is refused whenever it is sent. */
const FINAL: readonly number[] = [413, 415, 451, 501];
/** Others of an upload with a ticket. */
const FINAL_OF_TICKET: readonly number[] = [...FINAL, 403, 409];

/** @param broken How many attempts in a row lost their connection before. */
export function outcomeOf(
  { status, detail, retryAfterMs }: Refusal,
  broken: number,
  ticket?: string,
): Outcome {
  if (status === 429 || status === 503) {
    return { kind: "again", cause: "busy", delayMs: Math.max(1000, retryAfterMs ?? DEFAULT_PAUSE_MS) };
  }
  // The first attempt lost its connection but still runs. A retry gets its result.
  const isRunning = status === 409 && retryAfterMs !== null;
  const isBroken = BROKEN.includes(status);
  if ((isRunning || isBroken) && broken < MAX_BROKEN) {
    const delayMs = retryAfterMs ?? Math.min(MAX_BACKOFF_MS, 1000 * 2 ** broken);
    return { kind: "again", cause: "broken", delayMs };
  }
  return {
    kind: "failed",
    message: messageOf(status, detail),
    canRetry: isRunning || !(ticket === undefined ? FINAL : FINAL_OF_TICKET).includes(status),
    isSettled: !isRunning && !isBroken && status < 500,
    status,
  };
}

function messageOf(status: number, detail: string): string {
  if (BROKEN.includes(status)) return t("uploads.brokenOff");
  return status < 400 ? t("uploads.notUnderstood") : `${uploadRefusal(status)} ${quoted(detail)}`;
}
