import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";

/** Queue limit. Later reads request the dropped renewals again. */
const MAX_WAITING = 100;
/** Rest after a renewal, as a multiple of its duration: renewals take at most a fifth of one worker. */
const REST_FACTOR = 4;
const LEAST_REST_MS = 100;
/** Number of remembered keys, which this process does not renew again, even after a failure. */
const MAX_REMEMBERED = 10_000;

/** Renders stored renditions of an older version again in the background, one at a time. Replies get the old ones until then. */
export class Renewals {
  readonly #onError: (error: unknown) => void;
  readonly #requested = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  readonly #waiting: ((signal: AbortSignal) => Promise<void>)[] = [];
  readonly #closing = new AbortController();
  #underWay: Promise<void> | null = null;

  /** @param onError Receives failures; the old rendition stays. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Queues a renewal, once per key and process. */
  request(key: string, renew: (signal: AbortSignal) => Promise<void>): void {
    const isFull = this.#closing.signal.aborted || this.#waiting.length >= MAX_WAITING;
    if (isFull || this.#requested.has(key)) return;
    this.#requested.set(key, true);
    this.#waiting.push(renew);
    this.#underWay ??= this.#work();
  }

  /** Drops the queue, and resolves when no renewal is running. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("The service is closing"));
    this.#waiting.length = 0;
    await this.#underWay;
  }

  async #work(): Promise<void> {
    const { signal } = this.#closing;
    for (let renew = this.#waiting.shift(); renew !== undefined; renew = this.#waiting.shift()) {
      const begin = performance.now();
      try {
        await renew(signal);
        const restMs = Math.max(LEAST_REST_MS, REST_FACTOR * (performance.now() - begin));
        await delay(restMs, undefined, { signal, ref: false });
      } catch (error) {
        if (!signal.aborted) this.#onError(error);
      }
    }
    this.#underWay = null;
  }
}
