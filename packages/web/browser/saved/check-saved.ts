import { OutriggerError } from "@outrigger/client";
import type { SavedImage, Unavailable } from "./saved-image.ts";
import type { SavedChange } from "./saved-list.ts";

/** The part of a record that the list keeps. */
export interface CheckedRecord {
  name: string;
  /** ISO 8601. `null`: never. */
  expiresAt: string | null;
  placeholder: string | null;
}

export interface CheckOptions {
  /** Reads the record; rejects with an `OutriggerError`. It should not retry. */
  read(id: string): Promise<CheckedRecord>;
  /** Called with what the service said about an image. */
  onChecked(image: SavedImage, change: SavedChange): void;
}

/** Age from which an entry is checked again. */
const FRESH_MS = 60_000;
/** Most reads of one pass, far below the default limit of 1200 reads per minute. */
const MAX_READS = 200;
const SIMULTANEOUS = 4;

/** The entries to check now, those that were not checked for the longest time first. */
export function dueForCheck(images: readonly SavedImage[], nowMs: number): SavedImage[] {
  const age = ({ checkedAt = 0 }: SavedImage) => nowMs - checkedAt;
  return images
    .filter((image) => image.unavailable !== "deleted" && image.unavailable !== "expired")
    .filter((image) => Math.abs(age(image)) >= FRESH_MS)
    .sort((one, other) => age(other) - age(one))
    .slice(0, MAX_READS);
}

/**
 * Asks the service about each image, a few at a time. It stops at the first failure that says nothing about an image:
 * without a connection, after 429 and after 5xx.
 *
 * @returns when the next pass may start, in milliseconds from now; 0: at any time.
 */
export async function checkSaved(images: readonly SavedImage[], options: CheckOptions): Promise<number> {
  const waiting = [...images];
  let pauseMs = 0;
  async function work(): Promise<void> {
    for (let image = waiting.shift(); image !== undefined; image = waiting.shift()) {
      const outcome = await ask(image.id, options.read);
      if ("pauseMs" in outcome) {
        pauseMs = Math.max(pauseMs, outcome.pauseMs);
        waiting.length = 0;
      } else options.onChecked(image, { ...outcome, checkedAt: Date.now() });
    }
  }
  await Promise.all(Array.from({ length: SIMULTANEOUS }, work));
  return pauseMs;
}

async function ask(id: string, read: CheckOptions["read"]): Promise<SavedChange | { pauseMs: number }> {
  try {
    const { name, expiresAt, placeholder } = await read(id);
    return { name, expiresAt, placeholder: placeholder ?? undefined, unavailable: undefined };
  } catch (error) {
    const { status, detail, retryAfterMs } = error instanceof OutriggerError ? error : NO_REPLY;
    const unavailable = whyUnavailable(status, detail);
    if (unavailable !== undefined) return { unavailable };
    // Refused for another reason, such as a lost session of the host: nothing is known about the image.
    if (status >= 400 && status < 500 && status !== 429) return {};
    return { pauseMs: retryAfterMs ?? FRESH_MS };
  }
}

const NO_REPLY = { status: 0, detail: "", retryAfterMs: null };

/** The state that a refusal tells; `undefined` for a refusal that says nothing about the image. */
export function whyUnavailable(status: number, detail: string): Unavailable | undefined {
  if (status === 410) return detail.includes("expired") ? "expired" : "deleted";
  if (status === 404) return "missing";
  return status === 451 ? "withheld" : undefined;
}
