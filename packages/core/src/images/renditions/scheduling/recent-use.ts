import { LRUCache } from "lru-cache";

/** The excess use of an idle client is halved in this time. */
const HALF_LIFE_MS = 30_000;
/** Number of remembered clients. A forgotten client counts as a newcomer. */
const MAX_CLIENTS = 10_000;

/** Most credit of a client over clients that always have queued work: enough for a few small pictures in a row. */
const CREDIT_MS = 500;

/** A newcomer starts with this less credit, so that many new addresses go behind one known client. */
const NEWCOMER_MS = 100;

/**
 * CPU time used by competing clients, counted as in a fair queue. An arriving client starts at most 500 ms (its credit) below
 * the least of the present clients, a newcomer 400 ms below it. CPU time used by a client while it was alone does not count.
 */
export interface RecentUse {
  /** Use in milliseconds, comparable between clients. */
  of(client: string): number;
  add(client: string, cpuMs: number): void;
  /** Call it when a client arrives without queued or running work. @param others The clients that have such work. */
  enter(client: string, others: ReadonlySet<string>): void;
}

/** @param nowMs A monotonic clock. */
export function createRecentUse(nowMs: () => number): RecentUse {
  const used = new LRUCache<string, { cpuMs: number; atMs: number }>({ max: MAX_CLIENTS });
  /** The least use that an arriving client starts with. */
  let floorMs = 0;

  const of = (client: string): number => used.peek(client)?.cpuMs ?? floorMs + NEWCOMER_MS;
  const set = (client: string, cpuMs: number) => used.set(client, { cpuMs, atMs: nowMs() });

  /** The use of a client after idle time, which decays its excess over the floor. */
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
