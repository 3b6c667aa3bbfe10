import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { atOnce } from "../support/at-once.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Created, upload } from "../support/service.ts";
import { amount, isSoak, partOf } from "../support/soak.ts";
import { askAtOnce, storeCalls, whoRenders } from "./nodes/cold-requests.ts";
import { closeGate, eventsOf, openGate } from "./nodes/node-log.ts";
import { type NodeProcess, nodesDirectory, startNodes } from "./nodes/node-process.ts";
import { type Answer, tally } from "./nodes/requests.ts";
import { STORAGES, type StorageName, type StorageServers, startStorageServers } from "./nodes/storages.ts";

const NODES = 3;
const REQUESTS = 200;
const ROUNDS = amount(1, 50);
/** Different renditions at once: as many as one client may have running and queued at a node. */
const MANY = 10;
/** Requests while one node renders for a long time. */
const WAITING = 60;
/** Store calls of a node waiting for a picture that another renders: each request makes two itself. */
const LOOKED = (WAITING / NODES) * 4;
/** Longer than a waiting node pauses between two polls. */
const LONGEST_PAUSE_MS = 3000;

let servers: StorageServers;
beforeAll(async () => {
  servers = await startStorageServers();
});
afterAll(() => servers.close());

interface Site {
  nodes: NodeProcess[];
  directory: string;
  image: Created;
  /** Path of a rendition not yet requested. */
  path(width: number): string;
  renders(): Promise<number>;
}

async function startSite(name: StorageName, mutant?: string): Promise<Site> {
  const directory = await nodesDirectory();
  const config = { storage: servers.empty(name), directory };
  const nodes = await startNodes(NODES, mutant === undefined ? config : { ...config, mutant });
  const image = await upload({ base: nodes[0]?.base ?? "" }, await jpegPhoto(), "image/jpeg");
  return {
    nodes,
    directory,
    image,
    path: (width) => `api/images/${image.id}.png?resize=${width}x`,
    renders: async () => (await eventsOf(directory, "render")).length,
  };
}

/** Counts per status, and the number of different bodies. */
function summary(answers: readonly Answer[]) {
  return {
    statuses: tally(answers.map(({ status }) => String(status))),
    bodies: new Set(answers.map(({ body }) => body.toString("latin1"))).size,
  };
}

describe.each(STORAGES)("renders of three nodes on %s", (name) => {
  test("a rendition requested from all nodes at once is rendered once", async () => {
    const { nodes, path, renders, directory } = await startSite(name);
    for (let round = 1; round <= ROUNDS; round++) {
      const beganAt = performance.now();
      const answers = await askAtOnce(nodes, path(100 + round), REQUESTS).at(...nodes);
      expect(summary(answers)).toEqual({ statuses: { 200: REQUESTS }, bodies: 1 });
      expect(await renders()).toBe(round);
      if (isSoak) console.log(`${name}: ${REQUESTS} in ${Math.round(performance.now() - beganAt)} ms`);
    }
    expect(await eventsOf(directory, "error")).toEqual([]);
  });

  test("many renditions requested from all nodes at once are rendered once each", async () => {
    const { nodes, path, directory } = await startSite(name);
    const widths = Array.from({ length: MANY }, (_, at) => 100 + at);
    const asked = widths.map((width) => askAtOnce(nodes, path(width), NODES).at(...nodes));
    for (const answers of await Promise.all(asked)) {
      expect(summary(answers)).toEqual({ statuses: { 200: NODES }, bodies: 1 });
    }
    const rendered = (await eventsOf(directory, "render")).map(({ what }) => what);
    expect(rendered.sort()).toEqual(widths.map((width) => `png ${width}`));
  });
});

/** Leases are stored with the renditions. */
const PICTURES_IN = partOf<StorageName>(["Redis", "S3"], ["Redis"]);

describe("renders of three nodes with pictures in Redis or S3", () => {
  test("another node takes over a render when the rendering node is killed", () =>
    atOnce(PICTURES_IN, async (name) => {
      const { nodes, directory, path, renders } = await startSite(name);
      await closeGate(directory, "hold-render");
      const asked = askAtOnce(nodes, path(300), WAITING);
      const { leader, followers } = await whoRenders(nodes, directory);
      await leader.kill();
      await openGate(directory, "hold-render");
      const answers = await asked.at(...followers);
      expect(summary(answers)).toEqual({ statuses: { 200: (WAITING / NODES) * 2 }, bodies: 1 });
      expect(await renders()).toBe(2);
    }));

  test("another node takes over a render when the rendering node is suspended, and that one resumes unharmed", () =>
    atOnce(PICTURES_IN, async (name) => {
      const { nodes, directory, path, renders } = await startSite(name);
      await closeGate(directory, "hold-render");
      const asked = askAtOnce(nodes, path(300), WAITING);
      const { leader, followers } = await whoRenders(nodes, directory);
      leader.suspend();
      await openGate(directory, "hold-render");
      const others = await asked.at(...followers);
      leader.resume();
      const answers = [...others, ...(await asked.at(leader))];
      expect(summary(answers)).toEqual({ statuses: { 200: WAITING }, bodies: 1 });
      expect(await renders()).toBe(2);
    }));

  test("a picture that cannot be rendered is tried once, and all nodes refuse it with the same message", () =>
    atOnce(PICTURES_IN, async (name) => {
      const { nodes, directory, path, renders, image } = await startSite(name);
      await closeGate(directory, "refuse-render");
      await closeGate(directory, "hold-render");
      const asked = askAtOnce(nodes, path(300), WAITING);
      const { followers } = await whoRenders(nodes, directory);
      // The other nodes learn of the failure from the node that tried.
      for (const node of followers)
        await expect.poll(() => storeCalls(node, image.id)).toBeGreaterThan(LOOKED);
      await openGate(directory, "hold-render");
      const refused = { statuses: { 415: WAITING }, bodies: 1 };
      expect(summary(await asked.at(...nodes))).toEqual(refused);
      expect(summary(await askAtOnce(nodes, path(300), WAITING).at(...nodes))).toEqual(refused);
      expect(await renders()).toBe(1);
    }));

  test("nodes stop polling the store once no request waits", () =>
    atOnce(PICTURES_IN, async (name) => {
      const { nodes, directory, path, renders, image } = await startSite(name);
      await closeGate(directory, "hold-render");
      const asked = askAtOnce(nodes, path(300), WAITING);
      const { leader, followers } = await whoRenders(nodes, directory);
      const calls = () => Promise.all(followers.map((node) => storeCalls(node, image.id)));
      await expect.poll(async () => Math.min(...(await calls()))).toBeGreaterThan(LOOKED);
      for (const node of followers) await asked.leave(node);
      const areQuiet = async () => {
        const before = await calls();
        await delay(LONGEST_PAUSE_MS);
        return isDeepStrictEqual(await calls(), before);
      };
      await expect.poll(areQuiet).toBe(true);
      await openGate(directory, "hold-render");
      expect(summary(await asked.at(leader))).toEqual({ statuses: { 200: WAITING / NODES }, bodies: 1 });
      expect(await renders()).toBe(1);
    }));
});

test("the check finds nodes that do not see each other's leases", async () => {
  const { nodes, directory, path, renders } = await startSite("Redis", "no leases");
  await closeGate(directory, "hold-render");
  const asked = askAtOnce(nodes, path(300), WAITING);
  await expect.poll(renders).toBe(NODES);
  await openGate(directory, "hold-render");
  expect(summary(await asked.at(...nodes))).toEqual({ statuses: { 200: WAITING }, bodies: 1 });
});
