import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Job, JobQueue } from "@outrigger/core/stores";
import { jobQueueContract } from "@outrigger/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectSilence } from "../../../../test/support/expect-silence.ts";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from "../../../../test/support/redis-server.ts";
import { createRedisBlobStore } from "../blobs/redis-blob-store.ts";
import { createBullMqJobQueue } from "../bullmq.ts";

let server: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});
afterAll(async () => {
  await Promise.all([server.close(), cluster.close()]);
});

expectSilence();

describe.each(["server", "cluster"])("createBullMqJobQueue on a %s", (kind) => {
  const prefixes = new WeakMap<JobQueue, string>();
  const open = async (prefix = `test-${randomBytes(6).toString("hex")}`) => {
    const url = kind === "server" ? server.url : cluster.urls;
    const queue = createBullMqJobQueue({ url, prefix, timeoutMs: 10_000 });
    prefixes.set(queue, prefix);
    return queue;
  };
  jobQueueContract(test, () => open(), { openAnother: (queue) => open(prefixes.get(queue)) });
});

test("a job queue has its own keys, in one slot, apart from a store with the same prefix", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const queue = createBullMqJobQueue({ url: server.url, prefix });
  const store = createRedisBlobStore({ url: server.url, prefix });
  await store.put("queue/images", Buffer.from("x"));
  await store.addDue("jobs", { id: "x", dueMs: 1 });
  for (let turn = 0; turn < 3; turn++) await queue.enqueue(someJob());
  const names = (await server.cli("--scan", "--pattern", `${prefix}:*`)).split("\n");
  const queues = names.filter((name) => name.startsWith(`${prefix}:{queue:jobs}:images:`));
  expect(queues.length).toBeGreaterThanOrEqual(3);
  expect(names).toHaveLength(queues.length + 3);
  expect(await store.list("")).toEqual({ keys: ["queue/images"] });
  expect(await queue.waiting()).toBe(3);
  await queue.close();
  await store.close();
});

test("a job queue keeps only counters, settings and events when all jobs are done", async () => {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const queue = createBullMqJobQueue({ url: server.url, prefix });
  let handled = 0;
  queue.work(async () => void handled++, 5);
  const jobs = Array.from({ length: 300 }, someJob);
  await Promise.all(jobs.map((job) => queue.enqueue(job)));
  await expect.poll(() => handled, { timeout: 20_000 }).toBe(300);
  await queue.close();
  const names = (await server.cli("--scan", "--pattern", `${prefix}:*`)).split("\n");
  expect(names.map((name) => name.split(":").at(-1)).toSorted()).toEqual(
    expect.arrayContaining(["events", "id", "meta"]),
  );
  expect(names.filter((name) => jobs.some(({ id }) => name.includes(id)))).toEqual([]);
  expect(Number(await server.cli("XLEN", `${prefix}:{queue:jobs}:images:events`))).toBeLessThan(1000);
});

test.each([
  { url: "" },
  { url: [] },
  { url: "redis://:s3cret@localhost/x" },
  { url: "redis://localhost", timeoutMs: 0 },
  { url: "redis://localhost", prefix: "{a}" },
])("createBullMqJobQueue throws a TypeError without the password for invalid options: %j", (options) => {
  const create = () => createBullMqJobQueue(options);
  expect(create).toThrow(TypeError);
  expect(create).not.toThrow(/s3cret/);
});

test("a job queue works with the permissions that the README lists", async () => {
  const readme = await readFile(new URL("../../README.md", import.meta.url), "utf8");
  const rules = /BullMQ needs:\n\n```\n([^`]*)\n```/.exec(readme)?.[1]?.split(/\s+/) ?? [];
  await server.cli("ACL", "SETUSER", "worker", "on", ">pass", ...rules);
  const errors: unknown[] = [];
  const queue = createBullMqJobQueue({
    url: `redis://worker:pass@127.0.0.1:${server.port}`,
    onError: (error) => errors.push(error),
  });
  const other = createBullMqJobQueue({ url: server.url });
  let handled = 0;
  try {
    await queue.enqueue(someJob());
    expect(await queue.waiting()).toBe(1);
    queue.work(async () => void handled++, 1);
    await other.enqueue(someJob());
    await expect.poll(() => handled, { timeout: 20_000 }).toBe(2);
  } finally {
    await queue.close();
    await other.close();
  }
  expect(errors).toEqual([]);
});

test("enqueue rejects with a message about maxmemory when the server is out of memory", async () => {
  const full = await startRedis({ args: ["--maxmemory", "1", "--maxmemory-policy", "noeviction"] });
  const queue = createBullMqJobQueue({ url: full.url });
  try {
    await expect(queue.enqueue(someJob())).rejects.toMatchObject({
      code: "store_unavailable",
      message: "The Redis server has no memory left (maxmemory).",
    });
  } finally {
    await queue.close();
    await full.close();
  }
});

test("enqueue rejects with a message about the password when it is wrong", async () => {
  const guarded = await startRedis({ args: ["--requirepass", "right"], password: "right" });
  const queue = createBullMqJobQueue({ url: `redis://:wrong@127.0.0.1:${guarded.port}`, timeoutMs: 1000 });
  try {
    await expect(queue.enqueue(someJob())).rejects.toMatchObject({
      code: "store_unavailable",
      message: "The Redis server refuses the user name or the password.",
    });
  } finally {
    await queue.close();
    await guarded.close();
  }
});

function someJob(): Job {
  return { id: randomBytes(16).toString("base64url"), createdAt: Date.now() };
}
