import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";

/** @import { Bomb } from "../../test/hostile/bomb.ts" */

/** Files that are expensive to open come before those that their header reveals. */
const DEAREST_FIRST = ["dear", "bounded", "unreadable", "refused"];

/**
 * Files of the tests that are expensive to open: the same number of each type, as far as available.
 * @param {number} count
 * @returns {Promise<Bomb[]>}
 */
export async function hostileFiles(count) {
  /** @type {Map<string, Bomb[]>} */
  const byType = new Map();
  for (const bomb of await loadBombs()) byType.set(bomb.type, [...(byType.get(bomb.type) ?? []), bomb]);
  const queues = [...byType.values()].map((bombs) =>
    bombs.toSorted((a, b) => DEAREST_FIRST.indexOf(a.ends) - DEAREST_FIRST.indexOf(b.ends)),
  );
  /** @type {Bomb[]} */
  const chosen = [];
  while (chosen.length < count && queues.some((queue) => queue.length > 0)) {
    for (const queue of queues) chosen.push(...queue.splice(0, 1));
  }
  return chosen.slice(0, count);
}

/**
 * The tests are TypeScript, which Node 20 cannot load: the tests' own loader loads them.
 * @returns {Promise<Bomb[]>}
 */
async function loadBombs() {
  const server = await createViteServer({
    configFile: false,
    root: fileURLToPath(new URL("..", import.meta.url)),
    appType: "custom",
    logLevel: "error",
    server: { middlewareMode: true, ws: false, watch: null, hmr: false },
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const path = fileURLToPath(new URL("../../test/hostile/bombs.ts", import.meta.url));
    const { bombs } = await server.ssrLoadModule(path);
    return await bombs();
  } finally {
    await server.close();
  }
}
