import type { DueEntry } from "../../contracts/due-index.ts";
import type { DueList } from "../../stores/due-list.ts";

/** If the wall clock is further ahead of the elapsed time than this, it was set forward. */
const MAX_AHEAD_MS = 60_000;
/** How long the wall clock must agree with the elapsed time before it is trusted again. */
const PROBATION_MS = 3_600_000;
/** A service that was stopped for longer than this may have started with a wrong clock. */
const MAX_PAUSE_MS = 86_400_000;

/**
 * Checks whether the wall clock can be trusted for irreversible work: compares it with the elapsed time, because a clock set years
 * ahead by mistake would expire every image. Uses the real clocks, not the option `now` of a service.
 */
export class ClockGuard {
  readonly #wall: () => number;
  readonly #passed: () => number;
  /** Origin of the trusted wall clock: its value at elapsed time zero. */
  #believed: number;
  /** Start of the probation in elapsed time, and the origin of the wall clock since then. */
  #probation: { since: number; origin: number } | null = null;

  constructor(wall: () => number = Date.now, passed = () => performance.now()) {
    this.#wall = wall;
    this.#passed = passed;
    this.#believed = wall() - passed();
  }

  /** `false` for an hour after the clock was set forward, unless it is set back earlier. Call it regularly. */
  isTrusted(): boolean {
    const now = this.#passed();
    const origin = this.#wall() - now;
    if (origin - this.#believed > MAX_AHEAD_MS) {
      if (this.#probation === null || Math.abs(origin - this.#probation.origin) > MAX_AHEAD_MS) {
        this.#probation = { since: now, origin };
      }
      if (now - this.#probation.since < PROBATION_MS) return false;
    }
    // A clock that was set back is harmless: nothing becomes due earlier.
    this.#believed = origin;
    this.#probation = null;
    return true;
  }

  /**
   * Takes the last trusted wall clock of any process on this storage. If it is more than a day old, this process may
   * have started with a wrong clock, and `isTrusted` returns `false` for an hour.
   */
  recall(seenMs: number): void {
    const now = this.#passed();
    if (this.#believed + now - seenMs > MAX_PAUSE_MS) this.#believed = seenMs - now;
  }
}

const ID = "seen";
const MAX_PROCESSES = 1000;

/** Stores the last wall clock that any process on this storage trusted, as an entry of its own due list: cheaper than a blob. */
export class SeenClock {
  readonly #list: DueList;

  constructor(list: DueList) {
    this.#list = list;
  }

  /** In Unix milliseconds; `null`: none stored yet. */
  async last(): Promise<number | null> {
    return (await this.#entries()).at(-1)?.dueMs ?? null;
  }

  async note(nowMs: number): Promise<void> {
    const before = await this.#entries();
    await this.#list.add({ id: ID, dueMs: nowMs });
    for (const entry of before) if (entry.dueMs < nowMs) await this.#list.remove(entry);
  }

  #entries(): Promise<DueEntry[]> {
    return this.#list.due(Number.POSITIVE_INFINITY, MAX_PROCESSES);
  }
}
