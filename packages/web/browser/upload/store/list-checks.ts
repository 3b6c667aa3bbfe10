import { type ImagesClient, OutriggerError } from "@outrigger/client";
import type { SavedImage, Unavailable } from "../../saved/saved-image.ts";
import type { SavedChange } from "../../saved/saved-list.ts";
import type { SavedImages } from "./saved-images.ts";

export interface CheckOptions {
  /** Reads the record; rejects with an `OutriggerError`. It should not retry. */
  read(id: string): Promise<{ name: string; description: string | null; expiresAt: string | null }>;
  /** Called with what the service said about an image. */
  onChecked(image: SavedImage, change: SavedChange): void;
}

/** Age from which an entry is checked again. */
const FRESH_MS = 60_000;
/** Most reads of one pass, far below the default limit of 1200 reads per minute. */
const MAX_READS = 200;
const SIMULTANEOUS = 4;

/** Compares the list with the service. */
export class ListChecks {
  readonly #saved: SavedImages;
  readonly #client: ImagesClient;
  #isRunning = false;
  #pausedUntilMs = 0;

  /** @param client A client without retries: a check is repeated on another occasion. */
  constructor(saved: SavedImages, client: ImagesClient) {
    this.#saved = saved;
    this.#client = client;
  }

  /** Checks the images that were not checked lately. */
  async checkDue(): Promise<void> {
    const due = dueForCheck(this.#saved.list.value, Date.now());
    if (this.#isRunning || Date.now() < this.#pausedUntilMs || due.length === 0) return;
    this.#isRunning = true;
    const pauseMs = await checkSaved(due, {
      read: (id) => this.#client.get(id),
      onChecked: ({ id }, change) => this.#saved.change(id, change),
    });
    this.#isRunning = false;
    if (pauseMs > 0) this.#pausedUntilMs = Date.now() + pauseMs;
  }

  /** Checks now and whenever the reader returns to the page. */
  checkOnReturn(): void {
    const check = () => {
      if (document.visibilityState === "visible") void this.checkDue();
    };
    addEventListener("focus", check);
    addEventListener("pageshow", check);
    document.addEventListener("visibilitychange", check);
    check();
  }
}

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
    const { name, description, expiresAt } = await read(id);
    return { name, description: description ?? undefined, expiresAt, unavailable: undefined };
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
function whyUnavailable(status: number, detail: string): Unavailable | undefined {
  if (status === 410) return detail.includes("expired") ? "expired" : "deleted";
  if (status === 404) return "missing";
  return status === 451 ? "withheld" : undefined;
}
