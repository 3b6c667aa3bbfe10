import { LRUCache } from "lru-cache";

/** What an idle client used more than others counts half after this time. */
const HALF_LIFE_MS = 30_000;
/** Clients that are remembered. One that is forgotten counts as a newcomer. */
const MAX_CLIENTS = 10_000;

/** How far a client may be ahead of those that always have something in line: some small pictures in a row. */
const CREDIT_MS = 500;

/** How far a newcomer is behind a client that saved up all of that: many addresses that were never seen go behind one that was. */
const NEWCOMER_MS = 100;

/**
 * CPU time that clients used while they competed, as a fair queue counts it. A client that arrives starts at most 500 ms below
 * the least of the present clients, the credit of waiting, and a newcomer 400 ms below it. Time that a client used alone does
 * not count.
 */
export interface RecentUse {
  /** Milliseconds, to be compared with those of other clients. */
  of(client: string): number;
  add(client: string, cpuMs: number): void;
  /** To be called when a client arrives that had nothing in line or under way. @param others The clients that have. */
  enter(client: string, others: ReadonlySet<string>): void;
}

/** @param nowMs a clock that is never set back. */
export function createRecentUse(nowMs: () => number): RecentUse {
  const used = new LRUCache<string, { cpuMs: number; atMs: number }>({ max: MAX_CLIENTS });
  /** The least that a client starts with. */
  let floorMs = 0;

  const of = (client: string): number => used.peek(client)?.cpuMs ?? floorMs + NEWCOMER_MS;
  const set = (client: string, cpuMs: number) => used.set(client, { cpuMs, atMs: nowMs() });

  /** Its use, of which idle time takes what is above the floor. */
  function rested(client: string): number {
    const last = used.peek(client);
    if (last === undefined) return floorMs + NEWCOMER_MS;
    const excessMs = Math.max(0, last.cpuMs - floorMs);
    return floorMs + excessMs * 2 ** ((last.atMs - nowMs()) / HALF_LIFE_MS);
  }

  return {
    of,
    add: (client, cpuMs) => void set(client, of(client) + cpuMs),
    enter(client, others) {
      const least =
        others.size === 0 ? (used.peek(client)?.cpuMs ?? 0) : Math.min(...[...others].map(of)) - CREDIT_MS;
      floorMs = Math.max(floorMs, least);
      set(client, Math.max(floorMs, rested(client)));
    },
  };
}
