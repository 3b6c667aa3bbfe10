import type { EgressRule } from "./prober-options.ts";

/**
 * Notices that this machine reaches port 25 of nobody, as many providers have it: several hosts, of as many domains, that
 * cannot be connected to while none can.
 */
export interface EgressWatch {
  /** Lets a connection be tried, or tells how many milliseconds to wait. Where nobody is reached, each pause lets one through. */
  admit(): { retryAfterMs: number } | null;
  failed(domain: string, address: string): void;
  connected(): void;
}

/** More failures than this are not remembered. */
const MAX_FAILURES = 1000;

export function createEgressWatch(
  { hosts, windowMs, pauseMs }: Required<EgressRule>,
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
