/** Since when leases have been seen as they are, by the clock of this process that nobody sets. */
export interface LeaseSightings {
  /**
   * For how long a lease is known to have had this revision.
   * @param askedMs when it was asked for, by `performance.now()`: it may have changed since.
   */
  unchangedMs(key: string, revision: string, askedMs: number): number;
  /** Whether a lease was held when it was last asked for. */
  has(key: string): boolean;
  forget(key: string): void;
}

/** Keys whose leases are remembered; of more, the first that were asked for are forgotten, and waited for anew. */
const MAX_KEYS = 10_000;

export function createSightings(): LeaseSightings {
  const seen = new Map<string, { revision: string; sinceMs: number }>();
  return {
    unchangedMs(key, revision, askedMs) {
      const last = seen.get(key);
      // Again at the end of the map, which is in the order of asking.
      seen.delete(key);
      if (last?.revision === revision) {
        seen.set(key, last);
        return askedMs - last.sinceMs;
      }
      seen.set(key, { revision, sinceMs: performance.now() });
      for (const oldest of seen.keys()) {
        if (seen.size <= MAX_KEYS) break;
        seen.delete(oldest);
      }
      return 0;
    },
    has: (key) => seen.has(key),
    forget: (key) => void seen.delete(key),
  };
}
