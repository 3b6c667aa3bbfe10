import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { type BlobStore, createFsBlobStore } from "@outrigger/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOwnerUsage } from "../../packages/core/dist/images/owners/owner-usage.js";

const BUILT = new URL("../../packages/core/dist/images/owners/owner-usage.js", import.meta.url).href;
const PROCESS_NAMES = ["a", "b", "c"];
const OWNER = "owner";
const EPOCH_CHANGES = 7;

/**
 * The prelude of every child: opens the count on the directory of its first argument, then waits for the start signal.
 */
const PRELUDE = `
  import { once } from "node:events";
  import { createFsBlobStore, isServiceError } from "@outrigger/core";
  const { createOwnerUsage } = await import(${JSON.stringify(BUILT)});
  const [directory, name, limit, kind] = process.argv.slice(1);
  const real = createFsBlobStore({ directory });
  const store = kind === "forgetful" ? { ...real, put: (key, body) => real.put(key, body) } : real;
  const usage = createOwnerUsage({
    store,
    now: Date.now,
    isOwned: async (_owner, id) => (await real.stat(id + "/record")) !== null,
    epochChanges: ${EPOCH_CHANGES},
  });
  const reserve = (id, bytes) => usage.reserve("${OWNER}", id, bytes, { images: Number(limit) }).then(() => true, (error) => {
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

/** Stores and removes images as the service does, until killed. */
const LIVE = `
  async function live(lane) {
    const stored = [];
    for (let turn = 0; ; turn++) {
      const id = name + lane + "-" + turn;
      if (await reserve(id, turn)) {
        await real.put(id + "/record", Buffer.from(JSON.stringify({ bytes: turn, isRemoved: false })));
        usage.settle("${OWNER}", id);
        stored.push([id, turn]);
      }
      if (stored.length < 5 && turn % 3 !== 0) continue;
      const [gone, bytes] = stored.shift() ?? [];
      if (gone === undefined) continue;
      await real.put(gone + "/record", Buffer.from(JSON.stringify({ bytes, isRemoved: true })));
      await usage.release("${OWNER}", gone, bytes);
      await real.delete(gone + "/record");
      usage.settle("${OWNER}", gone);
    }
  }
  await Promise.all([0, 1, 2].map(live));
`;

let root: string;
const children: ChildProcess[] = [];
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "outrigger-quota-"));
});
afterAll(async () => {
  for (const child of children) await kill(child);
  await rm(root, { recursive: true, force: true });
});

function countOn(store: BlobStore, now: () => number) {
  const isOwned = async (_owner: string, id: string) => (await store.stat(`${id}/record`)) !== null;
  return createOwnerUsage({ store, now, isOwned, epochChanges: EPOCH_CHANGES });
}

/** Starts processes with one count each on one directory, then releases them together. */
async function startAll(script: string, directory: string, ...rest: string[]): Promise<ChildProcess[]> {
  const started = PROCESS_NAMES.map((name) => {
    const child = spawn(
      process.execPath,
      ["--input-type=module", "--eval", PRELUDE + script, directory, name, ...rest],
      {
        cwd: import.meta.dirname,
        stdio: ["pipe", "pipe", "inherit"],
      },
    );
    children.push(child);
    return child;
  });
  await Promise.all(started.map((child) => once(child.stdout ?? child, "readable")));
  for (const child of started) child.stdin?.write("go\n");
  return started;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** The output of a process after its first line, once it has exited with 0. */
async function outputOf(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("The process has no output");
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect(code).toBe(0);
  return output.replace("ready\n", "").trim();
}

/** How many of 300 reservations by three processes are granted. */
async function countGranted(directory: string, limit: number, kind: string): Promise<number> {
  const outputs = await Promise.all((await startAll(RESERVE, directory, String(limit), kind)).map(outputOf));
  return outputs.reduce((sum, output) => sum + Number(output), 0);
}

test("three processes are granted exactly as many reservations as the quota allows", async () => {
  const directory = join(root, "exact");
  expect(await countGranted(directory, 123, "exact")).toBe(123);
  const store = createFsBlobStore({ directory });
  expect(await countOn(store, Date.now).usage(OWNER)).toEqual({ images: 123, bytes: 1230 });
  expect((await store.list("owners/")).keys.length).toBeLessThanOrEqual(2);
}, 120_000);

test("the check finds a count that writes without compare-and-set", async () => {
  expect(await countGranted(join(root, "forgetful"), 123, "forgetful")).toBeGreaterThan(123);
}, 120_000);

test("after processes are killed, the owner's count is corrected to the stored images", async () => {
  const directory = join(root, "killed");
  const limit = 20;
  for (let round = 0; round < 4; round++) {
    const processes = await startAll(LIVE, directory, String(limit), "exact");
    for (const child of processes) {
      await delay(300 + Math.random() * 300);
      await kill(child);
    }
  }
  const store = createFsBlobStore({ directory });
  expect((await countOn(store, Date.now).usage(OWNER)).images).toBeLessThanOrEqual(limit);
  const later = countOn(store, () => Date.now() + 16 * 60_000);
  const left = await finishRemovals(store, (id, bytes) => later.release(OWNER, id, bytes));
  // A change examines some of the leftover notes.
  for (let turn = 0; turn < 5; turn++) {
    await later.reserve(OWNER, `last-${turn}`, 0, {});
    await later.release(OWNER, `last-${turn}`, 0);
  }
  expect(left.images).toBeGreaterThan(0);
  expect(await later.usage(OWNER)).toEqual(left);
  expect((await readdir(join(directory, "blobs", "ow", "owners"))).length).toBe(1);
}, 120_000);

/** Removes blobs marked as removed, as the service does after a start. @returns the remaining blobs. */
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
