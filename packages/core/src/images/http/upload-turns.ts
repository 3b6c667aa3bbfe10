import type { UploadTurn } from "../../contracts/call.ts";
import { ServiceError } from "../../errors.ts";

/** Maximum number of uploads that are read concurrently, over all clients. */
export const MAX_READING = 4;
/**
 * Maximum number of uploads of one client that are begun and unanswered. Equals the number that may wait for
 * validation.
 */
export const MAX_UNANSWERED = 16;
/** A turn ends after this time without a byte. A slow sender's turn ends after this time if others wait. */
export const TURN_MS = 100;
/** A fast sender's turn ends after this time if others wait. */
export const LONG_TURN_MS = 1000;
const FAST_BYTES_PER_MS = 10_000;
/** Maximum total waiting time of one upload, over all its turns. */
const MAX_WAITS_MS = 120_000;
const RETRY_AFTER_MS = 5000;

/** The turns of one upload, from its first byte to its reply. */
export interface UploadVisit extends UploadTurn {
  readonly client: string;
  /** Ends the turn, and lets another upload of the client begin. May be called twice. */
  done(): void;
}

/**
 * Schedules the reading of uploads in turns, at most {@link MAX_READING} at once. The client with the fewest turns
 * comes first.
 */
export interface UploadTurns {
  /**
   * Creates the turns of one upload of `client`.
   * @param maxWaitMs Longest single wait in milliseconds.
   */
  turnOf(client: string, maxWaitMs: number): UploadVisit;
}

interface Waiter {
  /** Whether the upload had a turn before. */
  hasBegun: boolean;
  begin(): void;
}

/** The waiting uploads of one client, in order of arrival. */
interface Line {
  all: Set<Waiter>;
  /** Waiting uploads that had a turn before. */
  again: Set<Waiter>;
}

/** @param maxUnanswered See {@link MAX_UNANSWERED}. */
export function createUploadTurns(maxUnanswered = MAX_UNANSWERED): UploadTurns {
  /** Waiting uploads by client. The client whose last turn is the longest ago comes first. */
  const waiting = new Map<string, Line>();
  /** Number of uploads begun and unanswered, by client. */
  const unanswered = new Map<string, number>();
  /** Number of current turns, by client. */
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

  /** The waiting client with the fewest current turns. Rarely visits more clients than have turns. */
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
      // Move the client behind the others.
      waiting.delete(client);
      if (line !== undefined && line.all.size > 0) waiting.set(client, line);
      waiter.begin();
    }
  };

  /** Deferred, so that everything else ready in this round of the event loop comes first. */
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

  /** Whether a waiting client would still have fewer turns than this one after taking over one of its turns. */
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
        // If a place is free, a waiting upload gets that instead.
        if (total < MAX_READING || nextClient() === undefined) return false;
        const ms = performance.now() - beganAt;
        const isLong = ms > LONG_TURN_MS || (ms > TURN_MS && bytes < ms * FAST_BYTES_PER_MS);
        return isLong || hasMoreThanItsShare(client);
      };

      return {
        client,
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
