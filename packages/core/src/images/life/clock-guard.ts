import type { DueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";

/** A wall clock that is further ahead of the elapsed time than this was set. */
const MAX_AHEAD_MS = 60_000;
/** How long it has to agree with the elapsed time before it is trusted again. */
const PROBATION_MS = 3_600_000;
/** A service that was not running for longer than this may have been started with a wrong clock. */
const MAX_PAUSE_MS = 86_400_000;

/** Tells whether the wall clock may be trusted for what cannot be undone. */
export interface ClockGuard {
  /** `false` for an hour after the clock was set forward, unless it is set back before. To be called regularly. */
  isTrusted(): boolean;
  /**
   * Takes the wall clock of the last process on this storage that trusted it. If that is more than a day ago, this process
   * may have started with a wrong clock: the same hour applies.
   */
  recall(seenMs: number): void;
}

/**
 * Compares the wall clock with the elapsed time: a clock that was set years ahead by mistake would expire every image. Uses
 * the real clocks, not the option `now` of a service.
 */
export function createClockGuard(
  wall: () => number = Date.now,
  passed = () => performance.now(),
): ClockGuard {
  /** The trusted wall clock at time zero. */
  let believed = wall() - passed();
  /** When an hour's probation began, and the clock since then. */
  let probation: { since: number; origin: number } | null = null;
  return {
    isTrusted() {
      const now = passed();
      const origin = wall() - now;
      if (origin - believed <= MAX_AHEAD_MS) {
        // A clock that was set back does no harm: nothing becomes due by it.
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

/** The wall clock of the last process on this storage that trusted it, stored beyond that process. */
export interface SeenClock {
  /** Unix milliseconds; `null`: not noted yet. */
  last(): Promise<number | null>;
  note(nowMs: number): Promise<void>;
}

const ID = "seen";
const MAX_PROCESSES = 1000;

/** Keeps the time as an entry of its own due list: a blob that changes every minute would cost more. */
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
