import type { Filled } from "@outrigger/core/stores";
import type { EgressRule } from "./prober-options.ts";

/**
 * Detects that outgoing port 25 is blocked, as at many hosting providers: connections to several hosts of as
 * many domains
 * fail while none succeeds.
 */
export interface EgressWatch {
  /**
   * Returns `null` if a connection may be tried, else how long to wait. While port 25 is blocked, it admits
   * one per pause.
   */
  admit(): { retryAfterMs: number } | null;
  failed(domain: string, address: string): void;
  connected(): void;
}

/** Maximum number of recorded failures. */
const MAX_FAILURES = 1000;

export function createEgressWatch(
  { hosts, windowMs, pauseMs }: Filled<EgressRule>,
  now: () => number,
): EgressWatch {
  /** The latest failure of each address. */
  const failures = new Map<string, { domain: string; atMs: number }>();
  let closedUntilMs: number | null = null;

  function isClosedNow(): boolean {
    const since = now() - windowMs;
    for (const [address, { atMs }] of failures) {
      if (atMs < since || failures.size > MAX_FAILURES) failures.delete(address);
    }
    const domains = new Set([...failures.values()].map(({ domain }) => domain));
    return Math.min(domains.size, failures.size) >= hosts;
  }

  return {
    admit() {
      if (closedUntilMs === null) return null;
      const leftMs = closedUntilMs - now();
      if (leftMs > 0) return { retryAfterMs: leftMs };
      closedUntilMs = now() + pauseMs;
      return null;
    },
    failed(domain, address) {
      failures.delete(address);
      failures.set(address, { domain, atMs: now() });
      if (closedUntilMs === null && isClosedNow()) closedUntilMs = now() + pauseMs;
    },
    connected() {
      failures.clear();
      closedUntilMs = null;
    },
  };
}
