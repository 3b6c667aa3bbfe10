import { LRUCache } from "lru-cache";

/** Spreads rows that have to wait for the same thing, named by a key. */
export interface RowPace {
  /** Whether a further row of this key may begin now. {@link RowPace.end} ends each of them. */
  start(key: string): boolean;
  end(key: string): void;
  /**
   * When to try a row of this key again. Marks the key as slow; each call gets a later time.
   * @param afterMs the earliest time from now.
   */
  postpone(key: string, afterMs: number): number;
}

/** Paces of one runner. */
export interface RowPaces {
  /** Domains whose servers let only a few probes through. */
  domains: RowPace;
  /** Accounts whose remaining points are all reserved. */
  accounts: RowPace;
}

/** Rows of a slow key that run at once. */
const SLOW_AT_ONCE = 8;
/** How long a key stays slow. */
const SLOW_MS = 60_000;
const MAX_KEYS = 10_000;

/** @param spacingMs time between two postponed rows of one key. */
export function createRowPace(spacingMs: number, now: () => number): RowPace {
  const running = new Map<string, number>();
  const slow = new LRUCache<string, { untilMs: number; nextMs: number }>({ max: MAX_KEYS });

  return {
    start(key) {
      const count = running.get(key) ?? 0;
      if (count >= SLOW_AT_ONCE && (slow.get(key)?.untilMs ?? 0) > now()) return false;
      running.set(key, count + 1);
      return true;
    },
    end(key) {
      const count = running.get(key) ?? 0;
      if (count > 1) running.set(key, count - 1);
      else running.delete(key);
    },
    postpone(key, afterMs) {
      const nowMs = now();
      const nextMs = Math.max(nowMs + afterMs, (slow.get(key)?.nextMs ?? 0) + spacingMs);
      slow.set(key, { untilMs: nowMs + SLOW_MS, nextMs });
      return nextMs;
    },
  };
}
