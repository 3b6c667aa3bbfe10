import type { UploadTurn } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";

/** Uploads whose bytes are read at the same time, all clients together. */
export const MAX_READING = 4;
/** Uploads of one client that have begun to be read and are not answered: as many as may wait to be checked. */
export const MAX_UNANSWERED = 16;
/** A turn without a byte for this long is over. A slow sender's turn ends after this, where others wait. */
export const TURN_MS = 100;
/** A fast sender's turn ends after this, where others wait. */
export const LONG_TURN_MS = 1000;
const FAST_BYTES_PER_MS = 10_000;
/** What one upload may wait, all its turns together. */
const MAX_WAITS_MS = 120_000;
const RETRY_AFTER_MS = 5000;

/** The turn of an upload until it is answered. */
export interface UploadVisit extends UploadTurn {
  /** Ends the turn, and lets another upload of the client begin. Calling it twice is allowed. */
  done(): void;
}

/** Has uploads read in turns: at most {@link MAX_READING} at once, the client that reads least before all others. */
export interface UploadTurns {
  /**
   * The turn of one upload of `client`.
   * @param maxWaitMs longest time that it waits at a stretch.
   */
  turnOf(client: string, maxWaitMs: number): UploadVisit;
}

interface Waiter {
  /** Whether it had a turn before. */
  hasBegun: boolean;
  begin(): void;
}

/** What waits of one client, in the order in which it came. */
interface Line {
  all: Set<Waiter>;
  /** Those that had a turn before. */
  again: Set<Waiter>;
}

/** @param maxUnanswered see {@link MAX_UNANSWERED} */
export function createUploadTurns(maxUnanswered = MAX_UNANSWERED): UploadTurns {
  /** By client; the clients in the order in which they had a turn last. */
  const waiting = new Map<string, Line>();
  /** Uploads that have begun and are not answered, by client. */
  const unanswered = new Map<string, number>();
  /** Turns under way, by client. */
  const reading = new Map<string, number>();
  let total = 0;
  let isScheduled = false;

  const readingOf = (client: string): number => reading.get(client) ?? 0;

  const mayBegin = (client: string): boolean => (unanswered.get(client) ?? 0) < maxUnanswered;

  const nextOf = (client: string): Waiter | undefined => {
    const line = waiting.get(client);
    const [next] = (mayBegin(client) ? line?.all : line?.again) ?? [];
    return next;
  };

  /** Who waits and reads least. Seldom looks at more clients than read. */
  const nextClient = (): string | undefined => {
    let next: string | undefined;
    for (const client of waiting.keys()) {
      if (nextOf(client) === undefined) continue;
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
      const waiter = nextOf(client);
      if (waiter === undefined) return;
      const line = leave(client, waiter);
      // Behind the other clients.
      waiting.delete(client);
      if (line !== undefined && line.all.size > 0) waiting.set(client, line);
      waiter.begin();
    }
  };

  /** Not at once: what else is ready in this round of the event loop comes first. */
  const scheduleTurns = (): void => {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(beginTurns);
  };

  const queueUp = (client: string, waiter: Waiter): void => {
    const line = waiting.get(client) ?? { all: new Set(), again: new Set() };
    line.all.add(waiter);
    if (waiter.hasBegun) line.again.add(waiter);
    waiting.set(client, line);
    scheduleTurns();
  };

  const leave = (client: string, waiter: Waiter): Line | undefined => {
    const line = waiting.get(client);
    line?.all.delete(waiter);
    line?.again.delete(waiter);
    if (line?.all.size === 0) waiting.delete(client);
    return line;
  };

  /** Whether a client waits that would still read less than this one after taking over a turn. */
  const hasMoreThanItsShare = (client: string): boolean => {
    const next = nextClient();
    return next !== undefined && readingOf(next) + 1 < readingOf(client);
  };

  return {
    turnOf(client, maxWaitMs) {
      let isReading = false;
      let hasBegun = false;
      let isDone = false;
      let beganAt = 0;
      let bytes = 0;
      let leftMs = MAX_WAITS_MS;
      let silence: NodeJS.Timeout | undefined;

      const begin = (): void => {
        isReading = true;
        if (!hasBegun) add(unanswered, client, 1);
        hasBegun = true;
        beganAt = performance.now();
        bytes = 0;
        total++;
        add(reading, client, 1);
        silence = setTimeout(end, TURN_MS);
      };
      const end = (): void => {
        if (!isReading) return;
        isReading = false;
        clearTimeout(silence);
        total--;
        add(reading, client, -1);
        scheduleTurns();
      };
      const isOver = (): boolean => {
        // One that waits has a place already.
        if (total < MAX_READING || nextClient() === undefined) return false;
        const ms = performance.now() - beganAt;
        const isLong = ms > LONG_TURN_MS || (ms > TURN_MS && bytes < ms * FAST_BYTES_PER_MS);
        return isLong || hasMoreThanItsShare(client);
      };

      return {
        wait(signal) {
          if (isReading) return Promise.resolve();
          if (signal.aborted) return Promise.reject(signal.reason);
          if (total < MAX_READING && waiting.size === 0 && (hasBegun || mayBegin(client))) {
            begin();
            return Promise.resolve();
          }
          return new Promise((resolve, reject) => {
            const since = performance.now();
            const settle = (): void => {
              clearTimeout(timer);
              signal.removeEventListener("abort", abandon);
              leftMs -= performance.now() - since;
            };
            const waiter: Waiter = {
              hasBegun,
              begin() {
                settle();
                begin();
                resolve();
              },
            };
            const giveUp = (reason: unknown): void => {
              settle();
              leave(client, waiter);
              reject(reason);
            };
            const abandon = (): void => giveUp(signal.reason);
            const timer = setTimeout(() => giveUp(tooMany()), Math.min(maxWaitMs, Math.max(0, leftMs)));
            signal.addEventListener("abort", abandon);
            queueUp(client, waiter);
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
        done() {
          end();
          if (!hasBegun || isDone) return;
          isDone = true;
          add(unanswered, client, -1);
          scheduleTurns();
        },
      };
    },
  };
}

function add(counts: Map<string, number>, client: string, change: number): void {
  const count = (counts.get(client) ?? 0) + change;
  if (count > 0) counts.set(client, count);
  else counts.delete(client);
}

function tooMany(): ServiceError {
  return new ServiceError("overloaded", "Too many uploads are arriving. Try again later.", {
    retryAfterMs: RETRY_AFTER_MS,
  });
}
