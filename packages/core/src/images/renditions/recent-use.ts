import { LRUCache } from "lru-cache";

/** After this time what a client used counts half. */
const HALF_LIFE_MS = 30_000;
/** Clients that are remembered. One that is forgotten counts as a newcomer. */
const MAX_CLIENTS = 10_000;

/** CPU time that clients used recently: a sum that halves every 30 s. */
export interface RecentUse {
  /** Milliseconds; 0 for a newcomer. */
  of(client: string): number;
  add(client: string, cpuMs: number): void;
}

/** @param nowMs a clock that is never set back. */
export function createRecentUse(nowMs: () => number): RecentUse {
  const used = new LRUCache<string, { cpuMs: number; atMs: number }>({ max: MAX_CLIENTS });
  const of = (client: string): number => {
    const last = used.peek(client);
    if (last === undefined) return 0;
    const cpuMs = last.cpuMs * 2 ** ((last.atMs - nowMs()) / HALF_LIFE_MS);
    // Less than that is forgotten: a client that used much long ago then equals one that used little.
    return cpuMs < 1 ? 0 : cpuMs;
  };
  return {
    of,
    add(client, cpuMs) {
      used.set(client, { cpuMs: of(client) + cpuMs, atMs: nowMs() });
    },
  };
}
