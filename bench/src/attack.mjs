import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hostileFiles } from "./hostile-files.mjs";
import { multipartOf } from "./multipart.mjs";

/**
 * A hostile file, as the body of an upload.
 * @typedef {object} Missile
 * @property {string} title
 * @property {string} bodyFile
 * @property {string} contentType Of the body.
 */

/**
 * @typedef {object} Outcome
 * @property {string} title
 * @property {number} upload Status that the upload was answered with.
 * @property {number | null} picture Status of the requested PNG, if the upload was accepted.
 */

/**
 * @param {string} directory
 * @param {number} count
 * @returns {Promise<Missile[]>}
 */
export async function createMissiles(directory, count) {
  const parent = join(directory, "hostile");
  await mkdir(parent, { recursive: true });
  return Promise.all(
    (await hostileFiles(count)).map(async (file, index) => {
      const { body, contentType } = multipartOf(file);
      const bodyFile = join(parent, String(index));
      await writeFile(bodyFile, body);
      return { title: file.title, bodyFile, contentType };
    }),
  );
}

/**
 * Uploads all of them at the same moment, waits until each accepted one is ready, and requests it as a PNG.
 * @param {{ origin: string }} server
 * @param {readonly Missile[]} missiles
 * @returns {Promise<Outcome[]>}
 */
export async function attack({ origin }, missiles) {
  const child = fork(fileURLToPath(new URL("attack-child.mjs", import.meta.url)), [origin]);
  const ended = once(child, "exit").then(([code, signal]) => {
    throw new Error(`The attacker ended: ${code ?? signal}`);
  });
  ended.catch(() => {});
  // On a separate machine it would take no time from the server's cores.
  if (child.pid !== undefined) setPriority(child.pid, 19);
  try {
    child.send(missiles);
    const [outcomes] = await Promise.race([once(child, "message"), ended]);
    return outcomes;
  } finally {
    child.disconnect();
  }
}
