import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createFsBlobStore } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { afterAll, beforeAll, expect, test } from "vitest";
import { OwnerUsage } from "../../packages/core/src/images/owners/owner-usage.ts";
import { NameIndex } from "../../packages/core/src/stores/name-index.ts";
import { bundleSource } from "../support/bundle-source.ts";
import { type StartedProcess, startProcess } from "../support/start-process.ts";

const SOURCE = new URL("../../packages/core/src/images/owners/owner-usage.ts", import.meta.url);
const PROCESS_NAMES = ["a", "b", "c"];
const OWNER = "owner";

/** The beginning of every process: a quota count on the directory of its first argument. It waits for a line of input. */
const PRELUDE = `
  import { once } from "node:events";
  import { createFsBlobStore, isServiceError } from "@outrigger/core";
  const { OwnerUsage } = await import(process.env.BUNDLED_SOURCE);
  const [directory, name, limit, kind] = process.argv.slice(1);
  const real = createFsBlobStore({ directory });
  const store = kind === "forgetful" ? { ...real, put: (key, body) => real.put(key, body) } : real;
  const usage = new OwnerUsage({
    store,
    index: { add: async () => {}, remove: async () => {}, has: async () => false },
    now: Date.now,
    isOwned: async (_owner, id) => (await real.stat(id + "/record")) !== null,
  });
  const image = (id, bytes) => ({ id, createdAt: 0, owner: { name: "${OWNER}", bytes } });
  const reserve = (id, bytes) => usage.reserve(image(id, bytes), { images: Number(limit) }).then(() => true, (error) => {
    if (isServiceError(error, "forbidden")) return false;
    throw error;
  });
  console.log("ready");
  await once(process.stdin, "data");
  process.stdin.unref();
`;

const RESERVE = `
  let granted = 0;
  for (let round = 0; round < 25; round++) {
    const results = await Promise.all([0, 1, 2, 3].map((turn) => reserve(name + round + "-" + turn, 10)));
    granted += results.filter(Boolean).length;
  }
  console.log(granted);
`;

/** Stores and removes images as the service does, until the process is killed. */
const LIVE = `
  async function live(lane) {
    const stored = [];
    for (let turn = 0; ; turn++) {
      const id = name + lane + "-" + turn;
      if (await reserve(id, turn)) {
        await real.put(id + "/record", Buffer.from(JSON.stringify({ bytes: turn, isRemoved: false })));
        usage.settle(image(id, turn));
        stored.push([id, turn]);
      }
      if (stored.length < 5 && turn % 3 !== 0) continue;
      const [gone, bytes] = stored.shift() ?? [];
      if (gone === undefined) continue;
      await real.put(gone + "/record", Buffer.from(JSON.stringify({ bytes, isRemoved: true })));
      await usage.release(image(gone, bytes));
      await real.delete(gone + "/record");
      usage.settle(image(gone, bytes));
    }
  }
  await Promise.all([0, 1, 2].map(live));
`;

let root: string;
let bundled: string;
const processes: StartedProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-quota-"));
  bundled = bundleSource(SOURCE, root);
});
afterAll(async () => {
  for (const each of processes) await each.kill();
  await rm(root, { recursive: true, force: true });
});

function countOn(store: BlobStore, now: () => number) {
  const isOwned = async (_owner: string, id: string) => (await store.stat(`${id}/record`)) !== null;
  const index = new NameIndex(store, "owned");
  return new OwnerUsage({ store, index, now, isOwned });
}

function imageOf(id: string, bytes: number) {
  return { id, createdAt: 0, owner: { name: OWNER, bytes } };
}

/** Starts three processes with a quota count each on one directory, and lets them begin together. */
async function startAll(script: string, directory: string, ...rest: string[]): Promise<StartedProcess[]> {
  const started = await Promise.all(
    PROCESS_NAMES.map((name) =>
      startProcess(["--input-type=module", "--eval", PRELUDE + script, directory, name, ...rest], {
        cwd: import.meta.dirname,
        env: { BUNDLED_SOURCE: bundled },
        announcement: /ready\n/,
      }),
    ),
  );
  processes.push(...started);
  for (const { child } of started) child.stdin?.write("go\n");
  return started;
}

/** The output of a process after its first line. The process must exit with 0. */
async function outputOf({ exit, output }: StartedProcess): Promise<string> {
  expect(await exit).toBe(0);
  return output().replace("ready\n", "").trim();
}

/** How many of 300 reservations by three processes are granted. */
async function countGranted(directory: string, limit: number, kind: string): Promise<number> {
  const outputs = await Promise.all((await startAll(RESERVE, directory, String(limit), kind)).map(outputOf));
  return outputs.reduce((sum, output) => sum + Number(output), 0);
}

test("three processes that reserve at once are granted exactly as many images as the quota allows", async () => {
  const directory = join(root, "exact");
  expect(await countGranted(directory, 123, "exact")).toBe(123);
  const store = createFsBlobStore({ directory });
  expect(await countOn(store, Date.now).usage(OWNER)).toEqual({ images: 123, bytes: 1230 });
  expect((await store.list("usage/")).keys.length).toBe(1);
});

test("three processes exceed the quota if their writes do not compare revisions, so the check above detects it", async () => {
  expect(await countGranted(join(root, "forgetful"), 123, "forgetful")).toBeGreaterThan(123);
});

test("after processes are killed, the owner's usage matches the stored images again", async () => {
  const directory = join(root, "killed");
  const limit = 20;
  for (let round = 0; round < 4; round++) {
    const started = await startAll(LIVE, directory, String(limit), "exact");
    const files = () => readdir(directory, { recursive: true });
    await expect.poll(files).toContainEqual(expect.stringMatching(/\/record@$/));
    for (const each of started) {
      await delay(300 + Math.random() * 300);
      await each.kill();
    }
  }
  const store = createFsBlobStore({ directory });
  expect((await countOn(store, Date.now).usage(OWNER)).images).toBeLessThanOrEqual(limit);
  const later = countOn(store, () => Date.now() + 16 * 60_000);
  const left = await finishRemovals(store, (id, bytes) => later.release(imageOf(id, bytes)));
  // Every change reconciles some of the pending reservations.
  for (let turn = 0; turn < 5; turn++) {
    await later.reserve(imageOf(`last-${turn}`, 0), {});
    await later.release(imageOf(`last-${turn}`, 0));
  }
  expect(left.images).toBeGreaterThan(0);
  expect(await later.usage(OWNER)).toEqual(left);
  const files = await readdir(join(directory, "blobs", "us"), { recursive: true, withFileTypes: true });
  // The anchor, the usage, and what a killed process has not deleted.
  expect(files.filter((file) => file.isFile()).length).toBeLessThanOrEqual(3);
});

/** Deletes the images marked as removed, as the service does after a start. @returns count and bytes of the others. */
async function finishRemovals(
  store: BlobStore,
  release: (id: string, bytes: number) => Promise<void>,
): Promise<{ images: number; bytes: number }> {
  const left = { images: 0, bytes: 0 };
  const { keys } = await store.list("");
  for (const key of keys.filter((each) => each.endsWith("/record"))) {
    const blob = await store.get(key);
    const record = JSON.parse(String(blob?.body)); // Small: a Buffer.
    if (record.isRemoved) {
      await release(key.replace("/record", ""), record.bytes);
      await store.delete(key);
    } else {
      left.images += 1;
      left.bytes += record.bytes;
    }
  }
  return left;
}
