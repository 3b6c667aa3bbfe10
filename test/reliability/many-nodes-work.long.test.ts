import { afterAll, beforeAll, expect, test } from "vitest";
import { type Servers, startServers } from "../backends/servers.ts";
import { atOnce } from "../support/at-once.ts";
import { RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { amount } from "../support/soak.ts";
import { closeGate, openGate } from "./nodes/node-log.ts";
import { nodesDirectory, STORAGES, startNodes } from "./nodes/node-process.ts";
import { ask } from "./nodes/requests.ts";
import { admissionsOf, makeFiles, send } from "./nodes/uploads.ts";

const UPLOADS = 8;
const ROUNDS = amount(1, 10);
/** More than a lease of 15 s and 30 s between two polls of S3. */
const TAKEN_OVER = { timeout: 110_000 };

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

test("all accepted uploads are processed once although a node dies meanwhile", () =>
  atOnce(STORAGES, async (name) => {
    for (let round = 0; round < ROUNDS; round++) {
      const directory = await nodesDirectory();
      const nodes = await startNodes(3, { storage: servers.createStorage(name), directory });
      const files = await makeFiles(UPLOADS);
      await closeGate(directory, "hold-admit");
      const [first] = nodes;
      if (first === undefined) throw new Error("There are no nodes");
      const accepted = await Promise.all(files.map((file) => send(first, file, RESPOND_ASYNC)));
      expect(accepted.map(({ status }) => status)).toEqual(files.map(() => 202));

      await expect.poll(() => admissionsOf(directory)).not.toEqual([]);
      const [begun] = await admissionsOf(directory);
      const victim = nodes.find(({ pid }) => pid === begun?.pid) ?? first;
      await victim.kill();
      await openGate(directory, "hold-admit");
      // No client requests the images: the other nodes find them by themselves.
      const byOthers = async () => {
        const admissions = await admissionsOf(directory);
        return admissions.filter(({ pid }) => pid !== victim.pid).map(({ sha256 }) => sha256);
      };
      const all = files.map(({ sha256 }) => sha256).sort();
      await expect.poll(async () => (await byOthers()).sort(), TAKEN_OVER).toEqual(all);
      const survivors = nodes.filter((node) => node !== victim);
      for (const { base } of survivors) {
        for (const [at, { id }] of accepted.entries()) {
          const status = async () => (await ask(`${base}/${id}`)).status;
          await expect.poll(status).toBe(200);
          expect((await ask(`${base}/${id}`)).body.equals(files[at]?.bytes ?? Buffer.of())).toBe(true);
        }
      }
      expect((await byOthers()).sort()).toEqual(all);
    }
  }));
