import { setTimeout as delay } from "node:timers/promises";
import { LRUCache } from "lru-cache";

/** Makes stored renditions of an older look anew, one after the other, behind the replies that still get the old ones. */
export interface Renewals {
  /** Lines a renewal up, once per key and process. */
  request(key: string, renew: (signal: AbortSignal) => Promise<void>): void;
  /** Gives up what waits, and resolves when nothing is under way. */
  close(): Promise<void>;
}

/** More are asked for again by later reads. */
const MAX_WAITING = 100;
/** Renewals take at most a fifth of one worker. */
const REST_FACTOR = 4;
const LEAST_REST_MS = 100;
/** Keys that are not tried again by this process, whatever came of it. */
const MAX_REMEMBERED = 10_000;

/** @param onError gets what went wrong; the old rendition stays. */
export function createRenewals(onError: (error: unknown) => void): Renewals {
  const requested = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  const waiting: ((signal: AbortSignal) => Promise<void>)[] = [];
  const closing = new AbortController();
  let underWay: Promise<void> | null = null;

  async function work(): Promise<void> {
    for (let renew = waiting.shift(); renew !== undefined; renew = waiting.shift()) {
      const begin = performance.now();
      try {
        await renew(closing.signal);
        const restMs = Math.max(LEAST_REST_MS, REST_FACTOR * (performance.now() - begin));
        await delay(restMs, undefined, { signal: closing.signal, ref: false });
      } catch (error) {
        if (closing.signal.aborted) return;
        onError(error);
      }
    }
  }

  async function start(): Promise<void> {
    while (waiting.length > 0) await work();
    underWay = null;
  }

  return {
    request(key, renew) {
      if (closing.signal.aborted || waiting.length >= MAX_WAITING || requested.has(key)) return;
      requested.set(key, true);
      waiting.push(renew);
      underWay ??= start();
    },
    async close() {
      closing.abort(new Error("The service is closing"));
      waiting.length = 0;
      await underWay;
    },
  };
}
