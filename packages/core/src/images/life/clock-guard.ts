import type { DueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";

/** A wall clock that is further ahead than this of the time that has passed was set. */
const MAX_AHEAD_MS = 60_000;
/** So long it has to agree with the time that passes before it is believed again. */
const PROBATION_MS = 3_600_000;
/** A service that was not running for longer than this may have been started with a wrong clock. */
const MAX_PAUSE_MS = 86_400_000;

/** Tells whether the wall clock may be believed in what cannot be undone. */
export interface ClockGuard {
  /** `false` for an hour after the clock was set forward, unless it is set back before. To be asked now and then. */
  isTrusted(): boolean;
  /**
   * Tells what the wall clock said when a process on the same storage last believed it. When that is more than a day ago,
   * this process may have been started with a wrong clock: the same hour is waited for.
   */
  recall(seenMs: number): void;
}

/**
 * Compares the wall clock with the time that passes: one that was set years ahead by mistake would have every image
 * removed as expired. Looks at the real clocks, whatever time a service was told to go by.
 */
export function createClockGuard(
  wall: () => number = Date.now,
  passed = () => performance.now(),
): ClockGuard {
  /** The wall clock at time zero, as far as it is believed. */
  let believed = wall() - passed();
  /** Where an hour's probation began, and what the clock has said since. */
  let probation: { since: number; origin: number } | null = null;
  return {
    isTrusted() {
      const now = passed();
      const origin = wall() - now;
      if (origin - believed <= MAX_AHEAD_MS) {
        // A clock that was set back does no harm: nothing is due that was not before.
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

/** What the wall clock said when a process on this storage last believed it: survives the processes. */
export interface SeenClock {
  /** Unix milliseconds; `null`: nobody has noted it yet. */
  last(): Promise<number | null>;
  note(nowMs: number): Promise<void>;
}

const ID = "seen";
const MAX_PROCESSES = 1000;

/** Keeps the time as an entry of a list of its own: what replaces itself every minute is no blob. */
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
