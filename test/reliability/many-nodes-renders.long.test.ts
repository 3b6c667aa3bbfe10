import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Servers, type StorageName, startServers } from "../backends/servers.ts";
import { atOnce } from "../support/at-once.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Created, upload } from "../support/service.ts";
import { amount, isSoak, partOf } from "../support/soak.ts";
import { askAtOnce, storeCalls, whoRenders } from "./nodes/cold-requests.ts";
import { closeGate, eventsOf, openGate } from "./nodes/node-log.ts";
import { type NodeProcess, nodesDirectory, STORAGES, startNodes } from "./nodes/node-process.ts";
import { type Answer, tally } from "./nodes/requests.ts";

const NODES = 3;
const REQUESTS = 200;
const ROUNDS = amount(1, 50);
/** Different renditions at once: as many as one client may have running and queued at a node. */
const MANY = 10;
/** Requests while one node renders for a long time. */
const WAITING = 30;
/** Store calls of a node waiting for a picture that another renders: each request makes two itself. */
const LOOKED = (WAITING / NODES) * 4;
/** Longer than a waiting node pauses between two polls. */
const LONGEST_PAUSE_MS = 3000;

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

interface Site {
  nodes: NodeProcess[];
  directory: string;
  image: Created;
  /** Path of the rendition of this width. */
  path(width: number): string;
  /** How often the nodes began to render that width. */
  renders(width: number): Promise<number>;
}

async function startSite(name: StorageName, mutant?: string): Promise<Site> {
  const directory = await nodesDirectory();
  const config = { storage: servers.createStorage(name), directory };
  const nodes = await startNodes(NODES, mutant === undefined ? config : { ...config, mutant });
  const image = await upload({ base: nodes[0]?.base ?? "" }, await jpegPhoto(), "image/jpeg");
  return {
    nodes,
    directory,
    image,
    path: (width) => `api/images/${image.id}.png?resize=${width}x`,
    renders: async (width) =>
      (await eventsOf(directory, "render")).filter(({ what }) => what === `png ${width}`).length,
  };
}

/** Counts per status, and the number of different bodies. */
function summary(answers: readonly Answer[]) {
  return {
    statuses: tally(answers.map(({ status }) => String(status))),
    bodies: new Set(answers.map(({ body }) => body.toString("latin1"))).size,
  };
}

test.each(STORAGES)(
  "renditions requested from all of three nodes at once are rendered once each on %s",
  async (name) => {
    const { nodes, path, renders, directory } = await startSite(name);
    for (let round = 1; round <= ROUNDS; round++) {
      const beganAt = performance.now();
      const answers = await askAtOnce(nodes, path(200 + round), REQUESTS).at(...nodes);
      expect(summary(answers)).toEqual({ statuses: { 200: REQUESTS }, bodies: 1 });
      expect(await renders(200 + round)).toBe(1);
      if (isSoak) console.log(`${name}: ${REQUESTS} in ${Math.round(performance.now() - beganAt)} ms`);
    }
    const widths = Array.from({ length: MANY }, (_, at) => 100 + at);
    const asked = widths.map((width) => askAtOnce(nodes, path(width), NODES).at(...nodes));
    for (const answers of await Promise.all(asked)) {
      expect(summary(answers)).toEqual({ statuses: { 200: NODES }, bodies: 1 });
    }
    expect(await Promise.all(widths.map(renders))).toEqual(widths.map(() => 1));
    expect(await eventsOf(directory, "error")).toEqual([]);
  },
);

/** Leases are stored with the renditions. */
const PICTURES_IN = partOf<StorageName>(["Redis", "S3"], ["Redis"]);

test("another node takes over a render when the rendering node is suspended, which resumes unharmed, or killed", () =>
  atOnce(PICTURES_IN, async (name) => {
    const { nodes, directory, path, renders } = await startSite(name);
    /** Requests a rendition, and lets its node fail in the midst of the render. */
    const fail = async (width: number, how: (leader: NodeProcess) => void | Promise<void>) => {
      await closeGate(directory, "hold-render");
      const asked = askAtOnce(nodes, path(width), WAITING);
      const { leader, followers } = await whoRenders(nodes, directory, `png ${width}`);
      await how(leader);
      await openGate(directory, "hold-render");
      return { asked, leader, others: await asked.at(...followers) };
    };
    const { asked, leader, others } = await fail(300, (node) => node.suspend());
    leader.resume();
    const all = [...others, ...(await asked.at(leader))];
    expect(summary(all)).toEqual({ statuses: { 200: WAITING }, bodies: 1 });
    const killed = await fail(301, (node) => node.kill());
    expect(summary(killed.others)).toEqual({ statuses: { 200: (WAITING / NODES) * 2 }, bodies: 1 });
    expect([await renders(300), await renders(301)]).toEqual([2, 2]);
  }));

test("a picture that cannot be rendered is tried once for all nodes, and nodes stop polling the store once no request waits", () =>
  atOnce(PICTURES_IN, async (name) => {
    const { nodes, directory, path, renders, image } = await startSite(name);
    await closeGate(directory, "hold-render");
    const left = askAtOnce(nodes, path(300), WAITING);
    const waited = await whoRenders(nodes, directory, "png 300");
    const calls = () => Promise.all(waited.followers.map((node) => storeCalls(node, image.id)));
    await expect.poll(async () => Math.min(...(await calls()))).toBeGreaterThan(LOOKED);
    for (const node of waited.followers) await left.leave(node);
    const areQuiet = async () => {
      const counted = await calls();
      await delay(LONGEST_PAUSE_MS);
      return isDeepStrictEqual(await calls(), counted);
    };
    await expect.poll(areQuiet).toBe(true);
    await openGate(directory, "hold-render");
    expect(summary(await left.at(waited.leader))).toEqual({
      statuses: { 200: WAITING / NODES },
      bodies: 1,
    });

    const before = Math.max(...(await Promise.all(nodes.map((node) => storeCalls(node, image.id)))));
    await closeGate(directory, "refuse-render");
    await closeGate(directory, "hold-render");
    const asked = askAtOnce(nodes, path(301), WAITING);
    const { followers } = await whoRenders(nodes, directory, "png 301");
    // The other nodes learn of the failure from the node that tried.
    for (const node of followers) {
      await expect.poll(() => storeCalls(node, image.id)).toBeGreaterThan(before + LOOKED);
    }
    await openGate(directory, "hold-render");
    const refused = { statuses: { 415: WAITING }, bodies: 1 };
    expect(summary(await asked.at(...nodes))).toEqual(refused);
    expect(summary(await askAtOnce(nodes, path(301), WAITING).at(...nodes))).toEqual(refused);
    expect([await renders(300), await renders(301)]).toEqual([1, 1]);
  }));

test("the check finds nodes that do not see each other's leases", async () => {
  const { nodes, directory, path, renders } = await startSite("Redis", "no leases");
  await closeGate(directory, "hold-render");
  const asked = askAtOnce(nodes, path(300), WAITING);
  await expect.poll(() => renders(300)).toBe(NODES);
  await openGate(directory, "hold-render");
  expect(summary(await asked.at(...nodes))).toEqual({ statuses: { 200: WAITING }, bodies: 1 });
});
