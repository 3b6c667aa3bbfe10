import { addressOf, get, isReady, post } from "./client.mjs";
import { multipartOf } from "./multipart.mjs";
import { loadTypeScript } from "./typescript.mjs";

/** @import { Bomb } from "../../test/hostile/bomb.ts" */
/** @import { Address } from "./client.mjs" */

/**
 * Files of the tests that are expensive to open, as many of each type as it has there.
 * @param {number} count
 * @returns {Promise<Bomb[]>}
 */
export async function hostileFiles(count) {
  const path = "/test/hostile/bombs.ts";
  const { bombs } = await loadTypeScript(() => import("../../test/hostile/bombs.ts"), path);
  const all = (await bombs()).toSorted((a, b) => a.type.localeCompare(b.type));
  return Array.from({ length: count }, (_, index) => all[Math.floor((index * all.length) / count)]).filter(
    (bomb) => bomb !== undefined,
  );
}

/** An upload that exceeds its time under load is tried again, which never ends on a machine that stays too slow. */
const MAX_POLLS = 300;

/**
 * Uploads all of them at the same moment, waits until each accepted one is ready, at most half a minute, and requests it as a PNG.
 * @param {Address} server
 * @param {readonly Bomb[]} bombs
 */
export function attack(server, bombs) {
  return Promise.all(
    bombs.map(async ({ title, bytes, type }) => {
      const { status, id } = await post(server, await multipartOf({ bytes, type }));
      if (id === null || !(await isReady(server, id, MAX_POLLS)))
        return { title, upload: status, picture: null };
      const picture = await get(server, addressOf(id, "?resize=2000x2000", "png"));
      return { title, upload: status, picture: picture.status };
    }),
  );
}
