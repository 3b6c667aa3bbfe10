import { expect, test } from "vitest";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { BACKGROUND_CLIENT, HOST_CLIENT, RenderClaim, RenderGate } from "./render-gate.ts";

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
    async render(client: string, name: string, claim = new RenderClaim(client)) {
      void gate.render(claim, signal, work(name)).catch((error) => refused.set(name, error));
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

test("a client that joins a waiting render of another moves it to its own slot, and the other keeps its place", async () => {
  const { render, end, begun } = site({ workers: 1 });
  const claim = new RenderClaim("a");
  for (let n = 1; n <= 3; n++) await render("a", `a${n}`);
  await render("a", "shared", claim);
  claim.add("new");
  await end("a1", 50);
  expect(begun).toEqual(["a1", "shared"]);
  await end("shared", 50);
  expect(begun).toEqual(["a1", "shared", "a2"]);
});

test("a shared render rejects only when each of its clients was refused", async () => {
  const { render, end, begun, refused } = site({ workers: 1 });
  for (let n = 1; n <= 9; n++) await render("a", `a${n}`);
  const claim = new RenderClaim("a");
  claim.add("b");
  await render("a", "shared", claim);
  await render("a", "alone");
  expect([...refused]).toEqual([["alone", expect.objectContaining({ code: "rate_limited" })]]);
  await end("a1", 10);
  expect(begun).toEqual(["a1", "shared"]);
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

test("clients that wait for one render count as one in the queue, and leave it to others", async () => {
  const { render, end, begun, refused, gate, settled } = site({ workers: 1, maxQueue: 3 });
  await render("x", "running");
  const claim = new RenderClaim("a0");
  await render("a0", "shared", claim);
  for (let n = 1; n < 80; n++) claim.add(`a${n}`);
  await settled();
  await render("b", "b1");
  await render("c", "c1");
  expect([...refused.keys()]).toEqual([]);
  await end("running", 10);
  await end("shared", 10);
  await end("b1", 10);
  await end("c1", 10);
  expect(new Set(begun)).toEqual(new Set(["running", "shared", "b1", "c1"]));
  gate.close();
});

test("a client that joined renders of another may have eight of its own waiting", async () => {
  const { render, begun, refused, gate } = site({ workers: 1 });
  await render("x", "running");
  for (let n = 1; n <= 8; n++) {
    const claim = new RenderClaim("a");
    claim.add("b");
    await render("a", `a${n}`, claim);
  }
  for (let n = 1; n <= 8; n++) await render("b", `b${n}`);
  expect([...refused.keys()]).toEqual([]);
  await render("b", "b9");
  expect([...refused.keys()]).toEqual(["b9"]);
  expect(begun).toEqual(["running"]);
  gate.close();
});
