import { addressOf, get, isReady, post } from "./client.mjs";
import { multipartOf } from "./multipart.mjs";
import { loadTypeScript } from "./typescript.mjs";

/** @import { Bomb } from "../../test/hostile/bomb.ts" */
/** @import { Address } from "./client.mjs" */

/** Files that are expensive to open come before those that their header reveals. */
const DEAREST_FIRST = ["dear", "bounded", "unreadable", "refused"];

/**
 * Files of the tests that are expensive to open: the same number of each type, as far as available.
 * @param {number} count
 * @returns {Promise<Bomb[]>}
 */
export async function hostileFiles(count) {
  const { bombs } = await loadTypeScript(
    () => import("../../test/hostile/bombs.ts"),
    "/test/hostile/bombs.ts",
  );
  /** @type {Map<string, Bomb[]>} */
  const byType = new Map();
  for (const bomb of await bombs()) byType.set(bomb.type, [...(byType.get(bomb.type) ?? []), bomb]);
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
 * Uploads all of them at the same moment, waits until each accepted one is ready, and requests it as a PNG.
 * @param {Address} server
 * @param {readonly Bomb[]} bombs
 */
export function attack(server, bombs) {
  return Promise.all(
    bombs.map(async ({ title, bytes, type }) => {
      const { status, id } = await post(server, multipartOf({ bytes, type }));
      if (id === null || !(await isReady(server, id))) return { title, upload: status, picture: null };
      const picture = await get(server, addressOf(id, "?resize=2000x2000", "png"));
      return { title, upload: status, picture: picture.status };
    }),
  );
}
