import { expect, test } from "vitest";
import { createLeases } from "../../../test/leases.ts";
import { signal as event } from "../../../test/tapped-store.ts";
import { hasLeases } from "../../contracts/lease-store.ts";
import { ServiceError } from "../../errors.ts";
import { type SharedTask, SharedWork } from "./shared-work.ts";

const stay = new AbortController().signal;

/** Processes that share one stored result. */
function createProcesses(store: object, patienceMs = 30_000) {
  const errors: unknown[] = [];
  let result: string | null = null;
  let runs = 0;
  const storing = event();

  function open(work: () => Promise<string> = async () => "made") {
    const shared = new SharedWork({
      leases: async () => (hasLeases(store) ? store : null),
      patienceMs,
      onError: (error) => errors.push(error),
    });
    const task: SharedTask<string> = {
      isDone: async () => result !== null,
      async work() {
        runs++;
        const value = await work();
        const stored = storing.promise.then(() => {
          result = value;
        });
        return { value, stored };
      },
    };
    return { once: (signal = stay) => shared.once("key", task, signal), close: () => shared.close() };
  }

  return { errors, storing, open, runs: () => runs };
}

test("one of several processes performs the task, and the others find the stored result", async () => {
  const { open, storing, runs } = createProcesses(createLeases());
  const results = Promise.all(Array.from({ length: 5 }, () => open().once()));
  await new Promise((resolve) => setTimeout(resolve, 100));
  storing.give();
  expect((await results).filter((result) => result !== null)).toEqual(["made"]);
  expect(runs()).toBe(1);
});

test("the lease is released once the result is stored, and close waits for the release", async () => {
  const store = createLeases();
  const { open, storing } = createProcesses(store);
  const process = open();
  expect(await process.once()).toBe("made");
  expect(await store.acquireLease("key", 1000)).toBeNull();
  let isClosed = false;
  const closing = process.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  storing.give();
  await closing;
  expect(await store.acquireLease("key", 1000)).not.toBeNull();
});

test("if the process that holds the lease dies, another performs the task once the lease expires", async () => {
  const store = createLeases();
  const { open, runs, storing } = createProcesses(store);
  void open(() => new Promise(() => {})).once();
  const other = open().once();
  while (store.asked < 3) await new Promise(setImmediate);
  expect(runs()).toBe(1);
  store.runOut();
  expect(await other).toBe("made");
  expect(runs()).toBe(2);
  storing.give();
});

test("a failed task releases the key, so another process can perform it", async () => {
  const { open, storing } = createProcesses(createLeases());
  const refused = new ServiceError("overloaded", "Not here.");
  await expect(open(() => Promise.reject(refused)).once()).rejects.toBe(refused);
  expect(await open().once()).toBe("made");
  storing.give();
});

test("a task that waits longer than patienceMs rejects with overloaded and a retry time", async () => {
  const { open, runs } = createProcesses(createLeases(), 60);
  void open(() => new Promise(() => {})).once();
  await expect(open().once()).rejects.toMatchObject({ code: "overloaded", retryAfterMs: 2_000 });
  expect(runs()).toBe(1);
});

test("a lease that cannot be released is reported to onError, and the task still succeeds", async () => {
  const trouble = new ServiceError("store_unavailable", "It is away.");
  const store = { ...createLeases(), releaseLease: () => Promise.reject(trouble) };
  const { open, errors, storing } = createProcesses(store);
  storing.give();
  const process = open();
  expect(await process.once()).toBe("made");
  await process.close();
  expect(errors).toEqual([trouble]);
});

test("without leases every process performs the task itself", async () => {
  const { open, runs, storing } = createProcesses({});
  expect(await Promise.all([open().once(), open().once()])).toEqual(["made", "made"]);
  expect(runs()).toBe(2);
  storing.give();
});
