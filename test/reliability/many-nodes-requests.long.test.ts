import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Servers, startServers } from "../backends/servers.ts";
import { atOnce } from "../support/at-once.ts";
import { amount } from "../support/soak.ts";
import { loadNodes } from "./nodes/load.ts";
import { closeGate, eventsOf, openGate } from "./nodes/node-log.ts";
import {
  type NodeConfig,
  type NodeProcess,
  nodesDirectory,
  STORAGES,
  startNodes,
} from "./nodes/node-process.ts";
import { ask, tally } from "./nodes/requests.ts";
import { admissionsOf, type File, imagesOf, makeFiles, send, sendUntilDone } from "./nodes/uploads.ts";

const NODES = 3;
const WITH_ONE_KEY = 30;
const KEYS = 8;
const ROUNDS = amount(1, 10);
const CREATES = 12;
/** Rounds of the clients before and after a node is closed. */
const LOAD = amount(20, 200);
const OFTEN = { interval: 5 };

let servers: Servers;
beforeAll(async () => {
  servers = await startServers(STORAGES);
});
afterAll(() => servers.close());

type Nodes = [NodeProcess, NodeProcess, NodeProcess];

async function startThree(
  config: Omit<NodeConfig, "directory">,
): Promise<{ nodes: Nodes; directory: string }> {
  const directory = await nodesDirectory();
  // The tuple has NODES entries.
  return { nodes: (await startNodes(NODES, { ...config, directory })) as Nodes, directory };
}

/** Sends this many uploads at once, the nodes by turns. */
function sendAtOnce(nodes: Nodes, file: File, count: number, headers: Record<string, string> = {}) {
  const turns = Array.from({ length: count }, (_, at) => nodes[at % NODES] ?? nodes[0]);
  return Promise.all(turns.map((node) => send(node, file, headers)));
}

async function oneFile(): Promise<File> {
  const [file] = await makeFiles(1);
  if (file === undefined) throw new Error("There is no file");
  return file;
}

test.each(STORAGES)(
  "on %s, concurrent uploads with one Idempotency-Key make one image, and closing a node under load fails no request at the others and loses no acknowledged image",
  async (name) => {
    const { nodes, directory } = await startThree({ storage: servers.createStorage(name) });
    for (let round = 1; round <= ROUNDS; round++) await sendWithOneKey(nodes, round);
    const [closed, ...others] = nodes;
    const load = await loadNodes(nodes);
    await load.done(others, LOAD);
    expect(await closed.stop()).toBe(0);
    await load.done(others, LOAD);
    const { failures, uploaded } = await load.end();
    expect(failures.filter(({ node }) => node !== closed)).toEqual([]);
    // Requests at the closed node succeeded, answered 503, or could not connect.
    const seen = failures.filter(({ node }) => node === closed).map(({ what }) => what);
    expect(seen.filter((what) => !/^503|ECONNREFUSED|ECONNRESET|EPIPE|socket hang up/.test(what))).toEqual(
      [],
    );
    for (const { id } of uploaded) {
      for (const { base } of others) expect((await ask(`${base}/${id}`)).status).toBe(200);
    }
    expect(await eventsOf(directory, "error")).toEqual([]);
  },
);

/** Asserts that many uploads with one key make one image, the `round`th of the storage. */
async function sendWithOneKey(nodes: Nodes, round: number): Promise<void> {
  const file = await oneFile();
  const key = { "Idempotency-Key": randomUUID() };
  const answers = await sendAtOnce(nodes, file, WITH_ONE_KEY, key);
  const ids = new Set(answers.flatMap(({ id }) => id ?? []));
  expect(ids.size).toBe(1);
  const refused = answers.filter(({ id }) => id === null);
  expect(refused).toEqual(refused.map(() => ({ status: 409, retryAfterS: expect.any(Number), id: null })));
  const retried = await Promise.all(
    answers.map((_, at) => sendUntilDone(nodes[at % NODES] ?? nodes[0], file, key)),
  );
  expect(new Set(retried.map(({ id }) => id))).toEqual(ids);
  expect(await imagesOf(nodes[0])).toHaveLength(round);
}

test("retries with one Idempotency-Key make one image although the first node is suspended and resumes later, or dies during the upload, at any moment", () =>
  atOnce(STORAGES, async (name) => {
    for (let round = 0; round < ROUNDS; round++) {
      const { nodes, directory } = await startThree({ storage: servers.createStorage(name) });
      await retryWhileSuspended(nodes, directory);
      await retryAfterDeath(nodes, directory);
    }
  }));

/** The first node is suspended in its upload, and resumes after another made the image. */
async function retryWhileSuspended(nodes: Nodes, directory: string): Promise<void> {
  const [first, ...others] = nodes;
  const file = await oneFile();
  const key = { "Idempotency-Key": randomUUID() };
  await closeGate(directory, "hold-admit");
  const late = send(first, file, key);
  await expect.poll(() => admissionsOf(directory), OFTEN).toHaveLength(1);
  first.suspend();
  await openGate(directory, "hold-admit");
  const made = await Promise.all(others.map((node) => sendUntilDone(node, file, key)));
  first.resume();
  const { status, ...refusal } = await late;
  // 503 if a reply of the storage timed out while the node was suspended.
  expect([409, 503]).toContain(status);
  expect(refusal).toEqual({ retryAfterS: expect.any(Number), id: null });
  const all = [...made, await sendUntilDone(first, file, key)];
  expect(tally(all.map(({ status }) => String(status)))).toEqual({ 201: NODES });
  expect(new Set(all.map(({ id }) => id)).size).toBe(1);
  expect(await imagesOf(first)).toHaveLength(1);
}

/** The first node is killed when some of its uploads have finished and some have just begun. */
async function retryAfterDeath([first, ...others]: Nodes, directory: string): Promise<void> {
  const before = (await admissionsOf(directory)).length;
  const files = await makeFiles(KEYS);
  const keys = files.map(() => ({ "Idempotency-Key": randomUUID() }));
  const sent = files.map((file, at) => send(first, file, keys[at]));
  for (const each of sent) each.catch(() => undefined);
  const begun = before + 1 + Math.floor(Math.random() * KEYS);
  await expect.poll(async () => (await admissionsOf(directory)).length, OFTEN).toBeGreaterThanOrEqual(begun);
  await first.kill();
  const answered = await Promise.allSettled(sent);
  const retried = await Promise.all(
    files.map((file, at) => Promise.all(others.map((node) => sendUntilDone(node, file, keys[at] ?? {})))),
  );
  for (const [at, answers] of retried.entries()) {
    const earlier = answered[at];
    const ids = answers.map(({ id }) => id);
    if (earlier?.status === "fulfilled") ids.push(earlier.value.id);
    expect(answers.map(({ status }) => status)).toEqual(others.map(() => 201));
    expect(new Set(ids).size).toBe(1);
  }
  // One more is of the suspended node.
  const images = await imagesOf(others[0] ?? first);
  expect(images.map(({ state }) => state)).toEqual(["ready", ...files.map(() => "ready")]);
}

test("the check finds nodes that overwrite another's claim and make several images", async () => {
  const { nodes } = await startThree({
    storage: servers.createStorage("Redis"),
    mutant: "unconditional writes",
  });
  const file = await oneFile();
  let rounds = 0;
  // Each node reads four at once, so not every round has two at the same moment.
  do {
    await sendAtOnce(nodes, file, WITH_ONE_KEY, { "Idempotency-Key": randomUUID() });
    rounds++;
  } while (rounds < 20 && (await imagesOf(nodes[0])).length === rounds);
  expect((await imagesOf(nodes[0])).length).toBeGreaterThan(rounds);
});

test("three nodes with a shared limiter accept exactly the limit of uploads together", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const config = { storage: servers.createStorage("Redis"), creates: CREATES, isShared: true };
    const { nodes } = await startThree(config);
    const answers = await sendAtOnce(nodes, await oneFile(), CREATES * NODES);
    const counts = tally(
      answers.map(({ status, retryAfterS }) => (retryAfterS === null ? `${status}` : `${status} later`)),
    );
    expect(counts).toEqual({ 201: CREATES, "429 later": CREATES * (NODES - 1) });
  }
});
