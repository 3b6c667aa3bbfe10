import { LRUCache } from "lru-cache";

/** What a client that has not asked lately is ahead of those who wait all the time. */
const CREDIT_MS = 150;
/** After this time what a client used counts half. */
const HALF_LIFE_MS = 30_000;
/** Clients that are remembered. One that is forgotten counts as a newcomer. */
const MAX_CLIENTS = 10_000;

/**
 * CPU time that clients used recently, on a clock of its own: none has used less than the clock says, but for a small credit.
 * So a client that asks now and then is not behind newcomers for what it used before. What a client used beyond that halves
 * every 30 s.
 */
export interface RecentUse {
  /** Milliseconds; may be negative. */
  of(client: string): number;
  add(client: string, cpuMs: number): void;
  /** Sets the clock to at least this: the least use of those who wait. */
  raise(ms: number): void;
  /** Whether nobody waits: then the clock goes with the time. */
  rest(isResting: boolean): void;
}

/** @param nowMs a clock that is never set back. */
export function createRecentUse(nowMs: () => number): RecentUse {
  const used = new LRUCache<string, { cpuMs: number; atMs: number }>({ max: MAX_CLIENTS });
  let baseMs = 0;
  let restsSinceMs: number | null = nowMs();
  const clock = (): number => baseMs + (restsSinceMs === null ? 0 : nowMs() - restsSinceMs);
  const of = (client: string): number => {
    const last = used.peek(client);
    const least = clock() - CREDIT_MS;
    if (last === undefined || last.cpuMs <= least) return least;
    const moreMs = (last.cpuMs - least) * 2 ** ((last.atMs - nowMs()) / HALF_LIFE_MS);
    // Less than that is forgotten: a client that used much long ago then equals one that used little.
    return moreMs < 1 ? least : least + moreMs;
  };
  return {
    of,
    add(client, cpuMs) {
      used.set(client, { cpuMs: of(client) + cpuMs, atMs: nowMs() });
    },
    raise(ms) {
      baseMs += Math.max(0, ms - clock());
    },
    rest(isResting) {
      baseMs = clock();
      restsSinceMs = isResting ? nowMs() : null;
    },
  };
}
