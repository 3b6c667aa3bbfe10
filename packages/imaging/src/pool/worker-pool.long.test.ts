import { afterEach, expect, test } from "vitest";
import { isRunning, peakBytes, workersOf } from "../../test/child-processes.ts";
import { closePools, poolOf } from "../../test/task-pool.ts";
import { overDeadline } from "./failures.ts";

const MiB = 1024 ** 2;

afterEach(closePools);

test("the pool runs tasks in the order of their arrival", async () => {
  const pool = poolOf();
  const order: unknown[] = [];
  await Promise.all(
    [30, 0, 10, 0].map(async (ms, index) => {
      order.push((await pool.run({ do: "answer later", ms, value: index })).value);
    }),
  );
  expect(order).toEqual([0, 1, 2, 3]);
});

test("the pool starts at most as many workers as configured and as needed", async () => {
  const pool = poolOf({ workers: 2 });
  const alone = await Promise.all([pool.run({ do: "answer" })]);
  expect(new Set(alone.map(({ worker }) => worker)).size).toBe(1);
  const many = await Promise.all(Array.from({ length: 6 }, () => pool.run({ do: "answer later", ms: 1000 })));
  expect(new Set(many.map(({ worker }) => worker)).size).toBe(2);
});

test("an aborted signal rejects a waiting task with its reason, and the next one runs", async () => {
  const pool = poolOf();
  await pool.run({ do: "answer" });
  const running = pool.run({ do: "answer later", ms: 100, value: "running" });
  const client = new AbortController();
  const waiting = pool.run({ do: "answer" }, { signal: client.signal });
  const reason = new Error("gone");
  client.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  const next = pool.run({ do: "answer", value: "next" });
  expect((await running).value).toBe("running");
  expect((await next).value).toBe("next");
});

test("a running task continues when its signal is aborted", async () => {
  const pool = poolOf();
  await pool.run({ do: "answer" });
  const client = new AbortController();
  const running = pool.run({ do: "answer later", ms: 50, value: "done" }, { signal: client.signal });
  client.abort(new Error("gone"));
  expect((await running).value).toBe("done");
});

test("a task that slept until its deadline is killed with overloaded, and the pool recovers", async () => {
  const pool = poolOf({ timeoutMs: 2000 });
  const { worker } = await pool.run({ do: "answer" });
  const begun = performance.now();
  await expect(pool.run({ do: "hang" })).rejects.toMatchObject({
    code: "overloaded",
    message: "The machine is too busy to render this image in time.",
  });
  expect(performance.now() - begun).toBeGreaterThan(1990);
  expect((await pool.run({ do: "answer" })).worker).not.toBe(worker);
});

test.each([
  [null, "too_costly"],
  [8_000, "too_costly"],
  [7_999, "overloaded"],
])("a deadline of 10 s with %j ms of CPU time used ends as %s", (cpuMs, code) => {
  const refusal = overDeadline(cpuMs, 10_000);
  expect(refusal.code).toBe(code);
  if (code === "too_costly") expect(refusal.message).toBe("This image takes longer than 10 s to render.");
});

test("onCost receives the CPU time of a task before the task settles", async () => {
  const pool = poolOf();
  const events: unknown[] = [];
  await pool
    .run({ do: "compute", cpuMs: 60 }, { onCost: (cpuMs) => events.push(cpuMs) })
    .then(() => events.push("settled"));
  expect(events).toEqual([expect.any(Number), "settled"]);
  expect(events[0]).toBeGreaterThanOrEqual(60);
  const refusal = { do: "refuse", code: "not_implemented", message: "no decoder" };
  await pool.run(refusal, { onCost: (cpuMs) => events.push(cpuMs) }).catch(() => events.push("refused"));
  expect(events.slice(2)).toEqual([expect.any(Number), "refused"]);
});

test("a crashed task costs its whole deadline, and a cancelled one nothing", async () => {
  const pool = poolOf({ timeoutMs: 7_000 });
  const costs: number[] = [];
  const onCost = (cpuMs: number) => costs.push(cpuMs);
  const client = new AbortController();
  const crashing = pool.run({ do: "exit", code: 3 }, { onCost });
  const waiting = pool.run({ do: "answer" }, { onCost, signal: client.signal });
  client.abort(new Error("gone"));
  await Promise.allSettled([crashing, waiting]);
  expect(costs).toEqual([7_000]);
});

test.runIf(process.platform === "linux")(
  "a killed task costs the CPU time that the system counted",
  async () => {
    const pool = poolOf({ timeoutMs: 5_000, maxMemoryBytes: 200 * MiB });
    const costs: number[] = [];
    await pool
      .run({ do: "take memory", bytes: 300 * MiB }, { onCost: (cpuMs) => costs.push(cpuMs) })
      .catch(() => undefined);
    expect(costs).toHaveLength(1);
    expect(costs[0]).toBeLessThan(5_000);
  },
);

test("a task does not exceed its deadline while the host process is blocked", async () => {
  const pool = poolOf({ timeoutMs: 2000 });
  await pool.run({ do: "answer" });
  const running = pool.run({ do: "answer later", ms: 50, value: "in time" });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
  expect((await running).value).toBe("in time");
});

test.runIf(process.platform === "linux")(
  "a task that takes too much memory is rejected, and the pool recovers",
  async () => {
    const pool = poolOf({ maxMemoryBytes: 200 * MiB });
    await pool.run({ do: "answer" });
    await expect(pool.run({ do: "take memory", bytes: 300 * MiB })).rejects.toMatchObject({
      code: "too_costly",
      message: "This image needs more than 200 MiB of memory to render.",
    });
    expect(await pool.run({ do: "answer" })).toHaveProperty("worker");
  },
);

test.runIf(process.platform === "linux")(
  "of tasks that do not fit into memory together the latest is rejected as overloaded, and the first goes on",
  async () => {
    const pool = poolOf({ workers: 2, maxTotalMemoryBytes: 500 * MiB, maxRestingBytes: 100 * MiB });
    await Promise.all([pool.run({ do: "answer later", ms: 50 }), pool.run({ do: "answer later", ms: 50 })]);
    const hold = (value: string, ms: number) => pool.run({ do: "hold memory", bytes: 250 * MiB, ms, value });
    const large = hold("large", 2500);
    const peak = () => Math.max(...workersOf(process.pid).map(peakBytes));
    await expect.poll(peak).toBeGreaterThan(260 * MiB);
    await expect(hold("another", 60_000)).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 5000 });
    expect((await large).value).toBe("large");
    expect((await hold("another", 0)).value).toBe("another");
  },
);

test("a worker is replaced after maxTasksPerWorker tasks", async () => {
  const pool = poolOf({ maxTasksPerWorker: 2 });
  const workers: string[] = [];
  for (let task = 0; task < 4; task++) workers.push((await pool.run({ do: "answer" })).worker);
  expect(workers[1]).toBe(workers[0]);
  expect(workers[2]).not.toBe(workers[1]);
  expect(workers[3]).toBe(workers[2]);
});

test("a worker that holds too much memory after its task is replaced", async () => {
  const pool = poolOf({ maxRestingBytes: 150 * MiB });
  const { worker } = await pool.run({ do: "take memory", bytes: 200 * MiB, thenAnswer: true });
  expect((await pool.run({ do: "answer" })).worker).not.toBe(worker);
});

test("close rejects queued and running tasks and ends the processes", async () => {
  const pool = poolOf();
  await pool.run({ do: "answer" });
  const workers = workersOf(process.pid);
  expect(workers).toHaveLength(1);
  const open = Promise.allSettled([pool.run({ do: "hang" }), pool.run({ do: "answer" })]);
  await Promise.all([pool.close(), pool.close()]);
  for (const outcome of await open) {
    expect(outcome).toMatchObject({ status: "rejected", reason: { code: "overloaded" } });
  }
  // Killed together; inside of the sandbox one may end a moment after its parent.
  await expect.poll(() => workers.filter(isRunning)).toEqual([]);
  await expect(pool.run({ do: "answer" })).rejects.toMatchObject({ code: "overloaded" });
});
