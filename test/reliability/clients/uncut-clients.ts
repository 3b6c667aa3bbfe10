import { setTimeout as delay } from "node:timers/promises";
import { settledHoldings } from "./leftovers.ts";
import { type SlowClientsOptions, startSlowClients } from "./slow-clients.ts";
import type { Target } from "./target.ts";

/**
 * Connects slow clients and waits until the server has cut them all, at most `patienceMs`.
 * @returns the clients still connected, in words; empty if none.
 */
export async function uncutClients(
  target: Target,
  options: Omit<SlowClientsOptions, "origin" | "reopens">,
  patienceMs: number,
): Promise<string[]> {
  const before = (await settledHoldings(target)).descriptors;
  const began = Date.now();
  const clients = await startSlowClients({ ...options, origin: target.base, reopens: false });
  try {
    const isOver = () => Date.now() - began > patienceMs;
    // The server has closed a cut connection, whether or not the client has noticed.
    let hasBegun = false;
    while (!isOver()) {
      const descriptors = await target.countDescriptors();
      hasBegun ||= descriptors >= before + options.count / 2;
      if (hasBegun && descriptors <= before) break;
      await delay(50);
    }
    await clients.readOn();
    let uncut: string[];
    do {
      await delay(100);
      const { open } = await clients.report();
      uncut = Object.entries(open)
        .filter(([, count]) => count > 0)
        .map(([kind, count]) => `${count} of kind ${kind}`);
    } while (uncut.length > 0 && !isOver());
    return uncut;
  } finally {
    await clients.end();
  }
}
