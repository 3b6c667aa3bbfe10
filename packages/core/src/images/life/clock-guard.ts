import type { DueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";

/** If the wall clock is further ahead of the elapsed time than this, it was set forward. */
const MAX_AHEAD_MS = 60_000;
/** How long the wall clock must agree with the elapsed time before it is trusted again. */
const PROBATION_MS = 3_600_000;
/** A service that was stopped for longer than this may have started with a wrong clock. */
const MAX_PAUSE_MS = 86_400_000;

/** Checks whether the wall clock can be trusted for irreversible work. */
export interface ClockGuard {
  /** `false` for an hour after the clock was set forward, unless it is set back earlier. Call it regularly. */
  isTrusted(): boolean;
  /**
   * Takes the last trusted wall clock of any process on this storage. If it is more than a day old, this process may
   * have started with a wrong clock, and `isTrusted` returns `false` for an hour.
   */
  recall(seenMs: number): void;
}

/**
 * Compares the wall clock with the elapsed time, because a clock set years ahead by mistake would expire every image.
 * Uses the real clocks, not the option `now` of a service.
 */
export function createClockGuard(
  wall: () => number = Date.now,
  passed = () => performance.now(),
): ClockGuard {
  /** Origin of the trusted wall clock: its value at elapsed time zero. */
  let believed = wall() - passed();
  /** Start of the probation in elapsed time, and the origin of the wall clock since then. */
  let probation: { since: number; origin: number } | null = null;
  return {
    isTrusted() {
      const now = passed();
      const origin = wall() - now;
      if (origin - believed <= MAX_AHEAD_MS) {
        // A clock that was set back is harmless: nothing becomes due earlier.
        believed = origin;
        probation = null;
        return true;
      }
      if (probation === null || Math.abs(origin - probation.origin) > MAX_AHEAD_MS) {
        probation = { since: now, origin };
      }
      if (now - probation.since < PROBATION_MS) return false;
      believed = origin;
      probation = null;
      return true;
    },
    recall(seenMs) {
      const now = passed();
      if (believed + now - seenMs > MAX_PAUSE_MS) believed = seenMs - now;
    },
  };
}

/** Stores the last wall clock that any process on this storage trusted. */
export interface SeenClock {
  /** In Unix milliseconds; `null`: none stored yet. */
  last(): Promise<number | null>;
  note(nowMs: number): Promise<void>;
}

const ID = "seen";
const MAX_PROCESSES = 1000;

/** Stores the time as an entry of its own due list: cheaper than a blob that changes every minute. */
export function createSeenClock(list: DueList): SeenClock {
  const entries = (): Promise<DueEntry[]> => list.due(Number.POSITIVE_INFINITY, MAX_PROCESSES);
  return {
    async last() {
      return (await entries()).at(-1)?.dueMs ?? null;
    },
    async note(nowMs) {
      const before = await entries();
      await list.add({ id: ID, dueMs: nowMs });
      for (const entry of before) if (entry.dueMs < nowMs) await list.remove(entry);
    },
  };
}
