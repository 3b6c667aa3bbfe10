import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atOnce } from "../support/at-once.ts";
import { RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { amount, isSoak } from "../support/soak.ts";
import { closeGate, openGate } from "./nodes/node-log.ts";
import { nodesDirectory, startNode, startNodes } from "./nodes/node-process.ts";
import { ask } from "./nodes/requests.ts";
import { STORAGES, type StorageServers, startStorageServers } from "./nodes/storages.ts";
import { admissionsOf, type File, makeFiles, send } from "./nodes/uploads.ts";

const UPLOADS = 8;
const ROUNDS = amount(1, 10);
/** A lease of 15 s, 30 s between two polls of S3, and a margin for a busy machine. */
const TAKEN_OVER_MS = 90_000;
/** The guarantee: how long an upload waits for a node that processes. */
const BEGUN_MS = 2_000;
const BEGUN_IN_S3_MS = 30_000;

let servers: StorageServers;
beforeAll(async () => {
  servers = await startStorageServers();
});
afterAll(() => servers.close());

describe("uploads processed in the background", () => {
  test(
    "all accepted uploads are processed once although a node dies meanwhile",
    () =>
      atOnce(STORAGES, async (name) => {
        for (let round = 0; round < ROUNDS; round++) {
          const directory = await nodesDirectory();
          const nodes = await startNodes(3, { storage: servers.empty(name), directory });
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
              await expect.poll(status).toBe(200);
              expect((await ask(`${base}/${id}`)).body.equals(files[at]?.bytes ?? Buffer.of())).toBe(true);
            }
          }
          expect((await byOthers()).sort()).toEqual(all);
          if (isSoak) console.log(`${name}: taken over in ${Math.round(tookMs)} ms`);
        }
      }),
    TIMEOUT_MS,
  );

  test.each([...STORAGES, "directory"] as const)(
    "a node begins within 2 s an upload that a node without processing accepted, with records in S3 within 30 s, on %s",
    async (name) => {
      const directory = await nodesDirectory();
      const config = { storage: servers.empty(name), directory };
      const [accepts] = await Promise.all([
        startNode({ ...config, processUploads: false }),
        startNodes(2, config),
      ]);
      const isInS3 = name === "S3";
      const files = await makeFiles(isInS3 ? UPLOADS : UPLOADS * ROUNDS);
      const tookMs: number[] = [];
      const follow = async (file: File) => {
        const { status, id } = await send(accepts, file, RESPOND_ASYNC);
        const beganAt = performance.now();
        expect(status).toBe(202);
        const hasBegun = async () =>
          (await admissionsOf(directory)).some(({ sha256 }) => sha256 === file.sha256);
        await expect.poll(hasBegun, { interval: 20 }).toBe(true);
        tookMs.push(performance.now() - beganAt);
        const seen = async () => (await ask(`${accepts.base}/${id}`)).status;
        await expect.poll(seen, { interval: 20 }).toBe(200);
      };
      if (isInS3) await Promise.all(files.map(follow));
      else for (const file of files) await follow(file);
      const admissions = await admissionsOf(directory);
      const sums = (some: readonly { sha256: string }[]) => some.map(({ sha256 }) => sha256).sort();
      expect(sums(admissions)).toEqual(sums(files));
      expect(admissions.map(({ pid }) => pid)).not.toContain(accepts.pid);
      const longest = Math.max(...tookMs);
      expect(longest).toBeLessThan(isInS3 ? BEGUN_IN_S3_MS : BEGUN_MS);
      if (isSoak) console.log(`${name}: begun after at most ${Math.round(longest)} ms`);
    },
  );
});
