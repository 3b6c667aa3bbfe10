import { LRUCache } from "lru-cache";

/** Spreads the rows of domains whose servers let only a few probes through. */
export interface DomainPace {
  /** Whether a further row of this domain may be probed now. {@link DomainPace.end} ends each of them. */
  start(domain: string): boolean;
  end(domain: string): void;
  /**
   * When to probe a row of this domain again. Marks the domain as slow; each call gets a later time.
   * @param afterMs the earliest time from now.
   */
  postpone(domain: string, afterMs: number): number;
}

/** Rows of a slow domain that are probed at once. */
const SLOW_AT_ONCE = 8;
/** Time between two rows of a slow domain, in milliseconds. */
const SPACING_MS = 500;
/** How long a domain stays slow. */
const SLOW_MS = 60_000;
const MAX_DOMAINS = 10_000;

export function createDomainPace(now: () => number): DomainPace {
  const running = new Map<string, number>();
  const slow = new LRUCache<string, { untilMs: number; nextMs: number }>({ max: MAX_DOMAINS });

  return {
    start(domain) {
      const count = running.get(domain) ?? 0;
      if (count >= SLOW_AT_ONCE && (slow.get(domain)?.untilMs ?? 0) > now()) return false;
      running.set(domain, count + 1);
      return true;
    },
    end(domain) {
      const count = running.get(domain) ?? 0;
      if (count > 1) running.set(domain, count - 1);
      else running.delete(domain);
    },
    postpone(domain, afterMs) {
      const nowMs = now();
      const nextMs = Math.max(nowMs + afterMs, (slow.get(domain)?.nextMs ?? 0) + SPACING_MS);
      slow.set(domain, { untilMs: nowMs + SLOW_MS, nextMs });
      return nextMs;
    },
  };
}
