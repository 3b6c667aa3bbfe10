import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atOnce } from "../support/at-once.ts";
import { RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { amount, isSoak } from "../support/soak.ts";
import { closeGate, openGate } from "./nodes/node-log.ts";
import { type NodeConfig, nodesDirectory, startNode, startNodes } from "./nodes/node-process.ts";
import { ask } from "./nodes/requests.ts";
import { STORAGES, type StorageServers, startStorageServers } from "./nodes/storages.ts";
import { admissionsOf, makeFiles, send } from "./nodes/uploads.ts";

const UPLOADS = 8;
const ROUNDS = amount(1, 10);
/** A lease of 15 s, 30 s between two polls, and a margin for a busy machine. */
const TAKEN_OVER_MS = 90_000;
/** Longest poll interval of nodes without a queue for uploads that others accepted. */
const LOOK_MS = 5_000;
const TIMEOUT_MS = amount(180_000, 3_600_000);

let servers: StorageServers;
beforeAll(async () => {
  servers = await startStorageServers();
});
afterAll(() => servers.close());

describe("uploads processed in the background", () => {
  const cases = STORAGES.flatMap((name) => [false, true].map((hasQueue) => ({ name, hasQueue })));

  test(
    "all accepted uploads are processed once although a node dies meanwhile, with and without a queue",
    () =>
      atOnce(cases, async ({ name, hasQueue }) => {
        for (let round = 0; round < ROUNDS; round++) {
          const directory = await nodesDirectory();
          const config = { storage: servers.empty(name), directory, shared: servers.shared(), hasQueue };
          const nodes = await startNodes(3, config);
          const files = await makeFiles(UPLOADS);
          await closeGate(directory, "hold-admit");
          const [first] = nodes;
          if (first === undefined) throw new Error("There are no nodes");
          const accepted = await Promise.all(files.map((file) => send(first, file, RESPOND_ASYNC)));
          expect(accepted.map(({ status }) => status)).toEqual(files.map(() => 202));

          await expect.poll(() => admissionsOf(directory), { timeout: 30_000 }).not.toEqual([]);
          const [begun] = await admissionsOf(directory);
          const victim = nodes.find(({ pid }) => pid === begun?.pid) ?? first;
          await victim.kill();
          const killedAt = performance.now();
          await openGate(directory, "hold-admit");
          // No client requests the images: the other nodes find them by themselves.
          const byOthers = async () => {
            const admissions = await admissionsOf(directory);
            return admissions.filter(({ pid }) => pid !== victim.pid).map(({ sha256 }) => sha256);
          };
          const all = files.map(({ sha256 }) => sha256).sort();
          await expect.poll(async () => (await byOthers()).sort(), { timeout: TAKEN_OVER_MS }).toEqual(all);
          const tookMs = performance.now() - killedAt;
          const survivors = nodes.filter((node) => node !== victim);
          for (const { base } of survivors) {
            for (const [at, { id }] of accepted.entries()) {
              const status = async () => (await ask(`${base}/${id}`)).status;
              await expect.poll(status, { timeout: 30_000 }).toBe(200);
              expect((await ask(`${base}/${id}`)).body.equals(files[at]?.bytes ?? Buffer.of())).toBe(true);
            }
          }
          expect((await byOthers()).sort()).toEqual(all);
          if (isSoak) console.log(`${name}, queue ${hasQueue}: taken over in ${Math.round(tookMs)} ms`);
        }
      }),
    TIMEOUT_MS,
  );

  test.each(STORAGES)(
    "the queue hands uploads at once from a node that only accepts to a node that processes, on %s",
    async (name) => {
      const directory = await nodesDirectory();
      const config: NodeConfig = {
        ...{ storage: servers.empty(name), directory },
        ...{ shared: servers.shared(), hasQueue: true },
      };
      const [accepts] = await Promise.all([
        startNode({ ...config, processUploads: false }),
        startNodes(2, config),
      ]);
      const files = await makeFiles(UPLOADS * ROUNDS);
      const tookMs: number[] = [];
      for (const file of files) {
        const beganAt = performance.now();
        const { status, id } = await send(accepts, file, RESPOND_ASYNC);
        expect(status).toBe(202);
        const seen = async () => (await ask(`${accepts.base}/${id}`)).status;
        await expect.poll(seen, { timeout: 30_000, interval: 20 }).toBe(200);
        tookMs.push(performance.now() - beganAt);
      }
      const admissions = await admissionsOf(directory);
      expect(admissions.map(({ sha256 }) => sha256)).toEqual(files.map(({ sha256 }) => sha256));
      expect(admissions.map(({ pid }) => pid)).not.toContain(accepts.pid);
      tookMs.sort((a, b) => a - b);
      const [median, longest] = [tookMs[tookMs.length >> 1] ?? 0, tookMs.at(-1) ?? 0];
      expect(median).toBeLessThan(LOOK_MS);
      if (isSoak)
        console.log(
          `${name}: handed out and done in ${Math.round(median)} ms, at most ${Math.round(longest)} ms`,
        );
    },
    TIMEOUT_MS,
  );
});
