import { expect, test } from "vitest";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { BACKGROUND_CLIENT, HOST_CLIENT, RenderGate } from "./render-gate.ts";

const signal = new AbortController().signal;

/** A gate whose work ends only when the test ends it. */
function site(options: { workers?: number; maxQueue?: number; isLimited?: boolean } = {}) {
  const { isLimited = true, ...renderer } = { workers: 2, maxQueue: 64, ...options };
  const limiter = createMemoryRateLimiter();
  const gate = new RenderGate(renderer, { limiter, cpuSeconds: null, isLimited, onError: () => undefined });
  const running = new Map<string, (cpuMs?: number) => void>();
  const begun: string[] = [];
  const refused = new Map<string, unknown>();
  const work = (name: string) => (given: { onCost(cpuMs: number): void }) => {
    begun.push(name);
    return new Promise<void>((resolve) => {
      running.set(name, (cpuMs) => {
        running.delete(name);
        if (cpuMs !== undefined) given.onCost(cpuMs);
        resolve();
      });
    });
  };
  const settled = async () => {
    for (let round = 0; round < 5; round++) await new Promise(setImmediate);
  };
  return {
    gate,
    begun,
    refused,
    settled,
    async render(client: string, name: string) {
      void gate.render(client, signal, work(name)).catch((error) => refused.set(name, error));
      await settled();
    },
    async admit(client: string, name: string) {
      void gate.admit(client, signal, work(name)).catch((error) => refused.set(name, error));
      await settled();
    },
    async end(name: string, cpuMs?: number) {
      running.get(name)?.(cpuMs);
      await settled();
    },
  };
}

test("a client may have two renders running and eight waiting; the next rejects with rate_limited", async () => {
  const { render, end, begun, refused, gate, settled } = site({ workers: 4 });
  await render("a", "first");
  await end("first", 800);
  for (let n = 1; n <= 11; n++) void render("a", `a${n}`);
  await settled();
  expect(begun).toEqual(["first", "a1", "a2"]);
  expect([...refused]).toEqual([
    ["a11", expect.objectContaining({ code: "rate_limited", retryAfterMs: 1_000 })],
  ]);
  gate.close();
});

test("a client's uploads and renders do not count against each other's limits", async () => {
  const { render, admit, begun, refused } = site({ workers: 6 });
  for (let n = 1; n <= 11; n++) await admit("a", `u${n}`);
  for (let n = 1; n <= 10; n++) await render("a", `r${n}`);
  expect(begun).toEqual(["u1", "u2", "r1", "r2"]);
  expect([...refused.keys()]).toEqual([]);
});

test("without limits a client may take all processes and the whole queue, whose end rejects with overloaded", async () => {
  const { render, end, begun, refused } = site({ workers: 4, maxQueue: 3, isLimited: false });
  for (const name of ["first", "a1"]) await render("a", name);
  await end("first", 10);
  for (let n = 2; n <= 8; n++) await render("a", `a${n}`);
  expect(begun).toEqual(["first", "a1", "a2", "a3", "a4"]);
  expect([...refused]).toEqual([["a8", expect.objectContaining({ code: "overloaded" })]]);
});

test("calls in code and background work have no limit per client", async () => {
  const { render, admit, end, begun, refused } = site({ workers: 4 });
  for (const name of ["first", "h1"]) await render(HOST_CLIENT, name);
  await end("first", 10);
  for (let n = 2; n <= 20; n++) await render(HOST_CLIENT, `h${n}`);
  await admit(BACKGROUND_CLIENT, "b");
  expect(begun).toEqual(["first", "h1", "h2", "h3", "h4"]);
  expect(refused.size).toBe(0);
});

test("a client whose picture took more than half a second of CPU time leaves one of two processes to others", async () => {
  const { render, end, begun } = site();
  await render("a", "costly");
  await end("costly", 501);
  for (let n = 1; n <= 3; n++) await render("a", `a${n}`);
  expect(begun).toEqual(["costly", "a1"]);
  await render("b", "b1");
  expect(begun).toEqual(["costly", "a1", "b1"]);
});

test("with a renderer that states no number of processes no client waits", async () => {
  const limiter = createMemoryRateLimiter();
  const gate = new RenderGate({}, { limiter, cpuSeconds: null, onError: () => undefined });
  let running = 0;
  for (let n = 0; n < 50; n++) {
    void gate.admit("a", signal, () => {
      running++;
      return new Promise(() => undefined);
    });
  }
  for (let round = 0; round < 3; round++) await new Promise(setImmediate);
  expect(running).toBe(50);
});

test("failed work frees its slot and rejects with its error", async () => {
  const { gate } = site({ workers: 1 });
  const failure = new Error("broken");
  await expect(gate.admit("a", signal, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await gate.admit("a", signal, async () => "done")).toBe("done");
});
