import type { UploadTurn } from "../contracts/call.ts";
import { ServiceError } from "../errors.ts";

/** Uploads whose bytes are read at the same time, all clients together. */
export const MAX_READING = 4;
/** A turn without a byte for this long is over. A slow sender's turn ends after this, where others wait. */
export const TURN_MS = 100;
/** A fast sender's turn ends after this, where others wait. */
export const LONG_TURN_MS = 1000;
const FAST_BYTES_PER_MS = 10_000;
/** What one upload may wait, all its turns together. */
const MAX_WAITS_MS = 120_000;
const RETRY_AFTER_MS = 5000;

/** Has uploads read in turns: at most {@link MAX_READING} at once, the client that reads least before all others. */
export interface UploadTurns {
  /**
   * The turn of one upload of `client`.
   * @param maxWaitMs longest time that it waits at a stretch.
   */
  turnOf(client: string, maxWaitMs: number): UploadTurn;
}

export function createUploadTurns(): UploadTurns {
  /** Begins their turns, by client; the clients in the order in which they had one last. */
  const waiting = new Map<string, Set<() => void>>();
  /** Turns under way, by client. */
  const reading = new Map<string, number>();
  let total = 0;
  let isScheduled = false;

  const readingOf = (client: string): number => reading.get(client) ?? 0;

  /** Who waits and reads least. Seldom looks at more clients than read. */
  const nextClient = (): string | undefined => {
    let next: string | undefined;
    for (const client of waiting.keys()) {
      if (next === undefined || readingOf(client) < readingOf(next)) next = client;
      if (readingOf(next) === 0) break;
    }
    return next;
  };

  const beginTurns = (): void => {
    isScheduled = false;
    while (total < MAX_READING) {
      const client = nextClient();
      if (client === undefined) return;
      const queue = waiting.get(client) ?? new Set();
      const [begin] = queue;
      waiting.delete(client);
      if (begin === undefined) continue;
      queue.delete(begin);
      if (queue.size > 0) waiting.set(client, queue);
      begin();
    }
  };

  /** Not at once: what else is ready in this round of the event loop comes first. */
  const scheduleTurns = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(beginTurns);
  };

  const queueUp = (client: string, begin: () => void): void => {
    const queue = waiting.get(client);
    if (queue === undefined) waiting.set(client, new Set([begin]));
    else queue.add(begin);
    scheduleTurns();
  };

  const leaveQueue = (client: string, begin: () => void): void => {
    const queue = waiting.get(client);
    queue?.delete(begin);
    if (queue?.size === 0) waiting.delete(client);
  };

  /** Whether a client waits that would still read less than this one after taking over a turn. */
  const hasMoreThanItsShare = (client: string): boolean => {
    const next = nextClient();
    return next !== undefined && readingOf(next) + 1 < readingOf(client);
  };

  return {
    turnOf(client, maxWaitMs) {
      let isReading = false;
      let beganAt = 0;
      let bytes = 0;
      let leftMs = MAX_WAITS_MS;
      let silence: NodeJS.Timeout | undefined;

      const begin = (): void => {
        isReading = true;
        beganAt = performance.now();
        bytes = 0;
        total++;
        reading.set(client, readingOf(client) + 1);
        silence = setTimeout(end, TURN_MS);
      };
      const end = (): void => {
        if (!isReading) return;
        isReading = false;
        clearTimeout(silence);
        total--;
        const others = readingOf(client) - 1;
        if (others > 0) reading.set(client, others);
        else reading.delete(client);
        scheduleTurns();
      };
      const isOver = (): boolean => {
        // One that waits has a place already.
        if (waiting.size === 0 || total < MAX_READING) return false;
        const ms = performance.now() - beganAt;
        const isLong = ms > LONG_TURN_MS || (ms > TURN_MS && bytes < ms * FAST_BYTES_PER_MS);
        return isLong || hasMoreThanItsShare(client);
      };

      return {
        wait(signal) {
          if (isReading) return Promise.resolve();
          if (signal.aborted) return Promise.reject(signal.reason);
          if (total < MAX_READING && waiting.size === 0) {
            begin();
            return Promise.resolve();
          }
          return new Promise((resolve, reject) => {
            const since = performance.now();
            const settle = (): void => {
              clearTimeout(timer);
              signal.removeEventListener("abort", leave);
              leftMs -= performance.now() - since;
            };
            const start = (): void => {
              settle();
              begin();
              resolve();
            };
            const giveUp = (reason: unknown): void => {
              settle();
              leaveQueue(client, start);
              reject(reason);
            };
            const leave = (): void => giveUp(signal.reason);
            const timer = setTimeout(() => giveUp(tooMany()), Math.min(maxWaitMs, Math.max(0, leftMs)));
            signal.addEventListener("abort", leave);
            queueUp(client, start);
          });
        },
        mayRead(length) {
          if (isReading && isOver()) end();
          if (!isReading) return false;
          silence?.refresh();
          bytes += length;
          return true;
        },
        end,
      };
    },
  };
}

function tooMany(): ServiceError {
  return new ServiceError("overloaded", "Too many uploads are arriving. Try again later.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
