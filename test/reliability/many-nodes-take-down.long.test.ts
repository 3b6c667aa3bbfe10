import { afterAll, beforeAll, expect, test } from "vitest";
import { type Servers, startServers } from "../backends/servers.ts";
import { pngPhoto } from "../support/pictures.ts";
import { upload } from "../support/service.ts";
import { amount, isSoak } from "../support/soak.ts";
import { nodesDirectory, STORAGES, startNodes } from "./nodes/node-process.ts";
import { DELETE, takeDown, WITHHOLD } from "./nodes/take-down.ts";

const NODES = 3;
/** Broken nodes are found within {@link MUTANT_READS}. */
const READS = amount(500, 10_000);
const ROUNDS = amount(1, 10);
/** Longer than a store call's time limit: a node suspended for this time finds its calls timed out. */
const LONG_MS = 2500;
/** Broken nodes must be found within this many reads. */
const MUTANT_READS = 500;

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

test.each(STORAGES)(
  "an image withheld or deleted on one of three nodes on %s is refused by all once the call has returned, also by a node suspended meanwhile",
  async (name) => {
    const config = { storage: servers.createStorage(name), directory: await nodesDirectory() };
    const nodes = await startNodes(NODES, config);
    for (let round = 0; round < ROUNDS * 2; round++) {
      const down = round % 2 === 0 ? WITHHOLD : DELETE;
      const image = await upload({ base: nodes[round % NODES]?.base ?? "" }, await pngPhoto(), "image/png");
      // Each kind of taking down is tried with both lengths.
      const suspendedMs = (round + Math.floor(round / 2)) % 2 === 0 ? 0 : LONG_MS;
      const beganAt = performance.now();
      const { before, after } = await takeDown(nodes, image, down, { count: READS, suspendedMs });
      expect(after).toEqual({ [down.status]: READS });
      // The reads were fast enough to have seen the image.
      expect(Object.keys(before)).toEqual(["200", "206", "304"]);
      if (isSoak) console.log(`${name}, ${down.status}: ${Math.round(performance.now() - beganAt)} ms`);
    }
  },
);

test("the check finds nodes that cache a record for a minute", async () => {
  const fault = { mutant: "stale records" };
  const config = { storage: servers.createStorage("Redis"), directory: await nodesDirectory(), ...fault };
  const nodes = await startNodes(NODES, config);
  for (const down of [WITHHOLD, DELETE]) {
    const image = await upload({ base: nodes[0]?.base ?? "" }, await pngPhoto(), "image/png");
    const { after } = await takeDown(nodes, image, down, { count: MUTANT_READS, suspendedMs: 0 });
    expect(after[down.status]).not.toBe(MUTANT_READS);
  }
});
