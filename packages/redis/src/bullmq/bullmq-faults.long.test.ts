import { randomBytes } from "node:crypto";
import type { Job, JobQueue } from "@outrigger/core/stores";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { expectSilence } from "../../../../test/support/expect-silence.ts";
import { type RedisServer, startRedis, startRedisCluster } from "../../../../test/support/redis-server.ts";
import { createBullMqJobQueue } from "../bullmq.ts";

expectSilence();

/** A server or cluster of this test alone, which the test can stop. */
interface Backend {
  url: string | string[];
  nodes: RedisServer[];
  close(): Promise<void>;
}

describe.each(["server", "cluster"])("a BullMQ job queue on a failing %s", (kind) => {
  let backend: Backend;
  let errors: unknown[];
  const queues: JobQueue[] = [];
  beforeEach(async () => {
    errors = [];
    if (kind === "server") {
      const own = await startRedis({ appendOnly: true });
      backend = { url: own.url, nodes: [own], close: own.close };
    } else {
      const own = await startRedisCluster();
      backend = { url: own.urls, nodes: own.nodes, close: own.close };
    }
  });
  afterEach(async () => {
    await Promise.all(queues.splice(0).map((queue) => queue.close()));
    await backend.close();
  });

  const timeoutMs = 1000;
  const open = () => {
    const queue = createBullMqJobQueue({
      url: backend.url,
      timeoutMs,
      onError: (error) => void errors.push(error),
    });
    queues.push(queue);
    return queue;
  };
  const signal = (name: NodeJS.Signals) => {
    for (const node of backend.nodes) node.signal(name);
  };

  async function refuses(queue: JobQueue): Promise<void> {
    const beganMs = performance.now();
    await Promise.all([
      expect(queue.enqueue(someJob())).rejects.toMatchObject({ code: "store_unavailable" }),
      expect(queue.waiting()).rejects.toMatchObject({ code: "store_unavailable" }),
    ]);
    expect(performance.now() - beganMs).toBeLessThan(timeoutMs + 4000);
  }

  async function closesInTime(queue: JobQueue): Promise<void> {
    const beganMs = performance.now();
    await queue.close();
    expect(performance.now() - beganMs).toBeLessThan(timeoutMs + 4000);
  }

  /** Retries until the job is accepted: a client that was cut off needs time to reconnect. */
  async function enqueued(queue: JobQueue, job: Job): Promise<void> {
    await expect
      .poll(() => queue.enqueue(job).then(() => "accepted", String), { timeout: 25_000 })
      .toBe("accepted");
  }

  test("rejects jobs while the server is down and delivers jobs again after its restart", async () => {
    const handled: string[] = [];
    const queue = open();
    queue.work(async ({ id }) => void handled.push(id), 2);
    const [first, second] = [someJob(), someJob()];
    await enqueued(queue, first);
    await expect.poll(() => handled).toEqual([first.id]);
    await Promise.all(backend.nodes.map((node) => node.kill()));
    await refuses(queue);
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await Promise.all(backend.nodes.map((node) => node.start()));
    await enqueued(queue, second);
    await expect.poll(() => handled, { timeout: 25_000 }).toContain(second.id);
    await closesInTime(queue);
  }, 90_000);

  test("rejects jobs while the server hangs and delivers jobs when it resumes", async () => {
    const handled: string[] = [];
    const queue = open();
    queue.work(async ({ id }) => void handled.push(id), 2);
    const [first, second] = [someJob(), someJob()];
    await enqueued(queue, first);
    await expect.poll(() => handled).toEqual([first.id]);
    signal("SIGSTOP");
    await refuses(queue);
    signal("SIGCONT");
    await enqueued(queue, second);
    await expect.poll(() => handled, { timeout: 25_000 }).toContain(second.id);
  }, 90_000);

  test("finishes a job that was running when the server was killed", async () => {
    const queue = open();
    const job = someJob();
    let begun = 0;
    let finish: () => void = () => undefined;
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    queue.work(() => {
      begun++;
      return finished;
    }, 1);
    await enqueued(queue, job);
    await expect.poll(() => begun).toBe(1);
    await Promise.all(backend.nodes.map((node) => node.kill()));
    await refuses(queue);
    finish();
    await Promise.all(backend.nodes.map((node) => node.start()));
    // Until the first job is finished, enqueueing its ID changes nothing.
    await expect
      .poll(
        async () => {
          await queue.enqueue(job).catch(() => undefined); // The server has not recovered yet.
          return begun;
        },
        { timeout: 25_000 },
      )
      .toBeGreaterThan(1);
  }, 90_000);

  test.each(["killed", "hanging"])(
    "closes while the server is %s, as soon as its handlers are done",
    async (how) => {
      const [busy, idle] = [open(), open()];
      let isOver = false;
      let begun = 0;
      let finish: () => void = () => undefined;
      const finished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      idle.work(async () => undefined, 1);
      busy.work(async () => {
        begun++;
        await finished;
        isOver = true;
      }, 1);
      for (let turn = 0; turn < 20 && begun === 0; turn++) await enqueued(busy, someJob());
      await expect.poll(() => begun, { timeout: 15_000 }).toBe(1);
      if (how === "killed") await Promise.all(backend.nodes.map((node) => node.kill()));
      else signal("SIGSTOP");
      await closesInTime(idle);
      const closing = closesInTime(busy);
      expect(isOver).toBe(false);
      finish();
      await closing;
      expect(isOver).toBe(true);
      expect(begun).toBe(1);
      signal("SIGCONT");
    },
    90_000,
  );

  test("closes although the server was never reachable", async () => {
    await Promise.all(backend.nodes.map((node) => node.kill()));
    const queue = open();
    queue.work(async () => undefined, 1);
    await refuses(queue);
    await closesInTime(queue);
    await expect(queue.enqueue(someJob())).rejects.toMatchObject({ code: "store_unavailable" });
  }, 90_000);

  test("keeps no timer once it is closed, so the process can exit", async () => {
    const clocks = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = clocks();
    const several = Array.from({ length: 5 }, open);
    for (const queue of several) queue.work(async () => undefined, 1);
    for (const queue of several) await enqueued(queue, someJob());
    await Promise.all(backend.nodes.map((node) => node.kill()));
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await Promise.all(several.map((queue) => queue.close()));
    // One or two may be the test's own.
    await expect.poll(clocks, { timeout: 20_000 }).toBeLessThanOrEqual(before + 2);
  }, 90_000);

  test("starts to deliver jobs once a server that was down at the start is reachable", async () => {
    await Promise.all(backend.nodes.map((node) => node.kill()));
    const handled: string[] = [];
    const queue = open();
    queue.work(async ({ id }) => void handled.push(id), 1);
    await refuses(queue);
    await Promise.all(backend.nodes.map((node) => node.start()));
    const job = someJob();
    await enqueued(queue, job);
    await expect.poll(() => handled, { timeout: 25_000 }).toContain(job.id);
  }, 90_000);

  test("uses little CPU time while the server is down", async () => {
    const queue = open();
    queue.work(async () => undefined, 4);
    await enqueued(queue, someJob());
    await Promise.all(backend.nodes.map((node) => node.kill()));
    await expect.poll(() => errors.length, { timeout: 10_000 }).toBeGreaterThan(0);
    const before = process.cpuUsage();
    await refuses(queue);
    await refuses(queue);
    await refuses(queue);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1500);
    expect(errors.length).toBeLessThan(300);
  }, 90_000);
});

function someJob(): Job {
  return { id: randomBytes(16).toString("base64url"), createdAt: Date.now() };
}
