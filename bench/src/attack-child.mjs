/**
 * The attacker, in a process of its own: `attack-child.mjs <origin>`. It receives the files to send and reports the
 * outcomes.
 */
import { readFile } from "node:fs/promises";
import { addressOf, get, isReady, post } from "./client.mjs";

/** @import { Missile, Outcome } from "./attack.mjs" */

const server = { origin: process.argv[2] ?? "" };

process.on("message", async (/** @type {readonly Missile[]} */ missiles) => {
  const loaded = await Promise.all(
    missiles.map(async ({ title, bodyFile, contentType }) => ({
      title,
      contentType,
      body: await readFile(bodyFile),
    })),
  );
  process.send?.(await Promise.all(loaded.map(fire)));
});
process.on("disconnect", () => process.exit());

/**
 * @param {{ title: string, contentType: string, body: Buffer }} missile
 * @returns {Promise<Outcome>}
 */
async function fire({ title, ...multipart }) {
  const { status, id } = await post(server, multipart);
  if (id === null || !(await isReady(server, id))) return { title, upload: status, picture: null };
  const picture = await get(server, addressOf(id, "?resize=2000x2000", "png"));
  return { title, upload: status, picture: picture.status };
}
