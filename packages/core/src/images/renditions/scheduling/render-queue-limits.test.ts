import { describe, expect, test } from "vitest";
import { askMany, createDesk, settled } from "../../../../test/render-desk.ts";
import { createRenderQueue } from "./render-queue.ts";

describe("the limits of the queue", () => {
  test("a client may have two renders running and eight queued; the next rejects with rate_limited", async () => {
    const place = createDesk(4);
    askMany(place, "a", 11, { predictedMs: 1_000 });
    await settled();
    expect(place.underWay).toEqual(["a1", "a2"]);
    expect(place.queue.state()).toEqual({ waiting: 8, running: 2 });
    expect([...place.refused.keys()]).toEqual(["a11"]);
    // Eight queued of 1 s each, two at a time.
    expect(place.refused.get("a11")).toMatchObject({ code: "rate_limited", retryAfterMs: 4_000 });
    expect(await place.endAll()).toHaveLength(10);
  });

  test("with boundsClients: false a client may fill all workers and the whole queue", async () => {
    const place = createDesk(4, 20, false);
    askMany(place, "a", 25, { kind: "admit" });
    await settled();
    expect(place.underWay.length).toBe(4);
    expect([...place.refused]).toEqual([["a25", expect.objectContaining({ code: "overloaded" })]]);
  });

  test("uploads of a client are limited separately from its renders", async () => {
    const place = createDesk(4);
    askMany(place, "a", 10);
    for (let n = 1; n <= 19; n++) void place.ask("a", `u${n}`, { kind: "admit" });
    await settled();
    expect(place.underWay).toEqual(["a1", "a2", "u1", "u2"]);
    expect([...place.refused.keys()]).toEqual(["u19"]);
  });

  test("in a full queue a newcomer displaces the newest work of the client with the most places", async () => {
    const place = createDesk(1, 6);
    void place.ask("x", "running");
    askMany(place, "a", 4);
    askMany(place, "b", 2);
    void place.ask("new", "new1");
    await settled();
    expect([...place.refused.keys()]).toEqual(["a4"]);
    expect(place.refused.get("a4")).toMatchObject({ code: "rate_limited", retryAfterMs: 1_000 });
    expect(place.queue.state()).toEqual({ waiting: 6, running: 1 });
  });

  test("a newcomer rejects with overloaded if every client in the full queue has one place", async () => {
    const place = createDesk(1, 3);
    void place.ask("x", "running", { predictedMs: 3_000 });
    for (const client of ["a", "b", "c", "new"]) void place.ask(client, client, { predictedMs: 2_000 });
    await settled();
    expect([...place.refused.keys()]).toEqual(["new"]);
    expect(place.refused.get("new")).toMatchObject({ code: "overloaded", retryAfterMs: 9_000 });
  });

  test("if every client has one place, a newcomer displaces the client that used the most CPU time", async () => {
    const place = createDesk(1, 3);
    for (const client of ["a", "much", "b"]) void place.ask(client, `${client}0`, { predictedMs: 90 });
    void place.ask("much", "much1", { predictedMs: 90 });
    for (const name of ["a0", "much0"]) await place.end(name);
    void place.ask("a", "a1");
    void place.ask("x", "x1");
    void place.ask("new", "new1");
    await settled();
    expect(place.refused.size).toBe(1);
    expect(place.refused.get("much1")).toMatchObject({ code: "overloaded" });
  });

  test("a client with as many places as the others displaces none of them", async () => {
    const place = createDesk(1, 4);
    void place.ask("x", "running");
    askMany(place, "a", 2);
    askMany(place, "b", 3);
    await settled();
    expect([...place.refused.keys()]).toEqual(["b3"]);
    expect(place.refused.get("b3")).toMatchObject({ code: "rate_limited" });
  });

  test("without a queue, work beyond the number of workers rejects with overloaded", async () => {
    const place = createDesk(2, 0);
    for (const client of ["a", "b", "c"]) void place.ask(client, client);
    await settled();
    expect(place.underWay).toEqual(["a", "b"]);
    expect(place.refused.get("c")).toMatchObject({ code: "overloaded" });
  });

  test("an aborted signal removes queued work and leaves running work alone", async () => {
    const place = createDesk(1);
    const client = new AbortController();
    void place.ask("a", "a1", { signal: client.signal });
    void place.ask("a", "a2", { signal: client.signal });
    const reason = new Error("gone");
    client.abort(reason);
    void place.ask("a", "a3", { signal: client.signal });
    await settled();
    expect([...place.refused]).toEqual([
      ["a2", reason],
      ["a3", reason],
    ]);
    expect(place.queue.state()).toEqual({ waiting: 0, running: 1 });
  });
});

describe("a client that joins queued work", () => {
  test("moves it to its own turn and is charged for it", async () => {
    const place = createDesk(1);
    const claim = { clients: new Set(["a"]) };
    askMany(place, "a", 5);
    void place.ask("a", "shared", { claim });
    askMany(place, "b", 2);
    place.queue.join(claim, "new");
    await place.end("a1");
    expect(place.underWay).toEqual(["shared"]);
    expect(place.payers.get("shared")).toBe("new");
  });

  test("starts it although the first client already has two running", async () => {
    const place = createDesk(3);
    const claim = { clients: new Set(["a"]) };
    askMany(place, "a", 2);
    void place.ask("a", "shared", { claim });
    expect(place.underWay).toEqual(["a1", "a2"]);
    place.queue.join(claim, "new");
    expect(place.underWay).toEqual(["a1", "a2", "shared"]);
  });

  test("does not count among the others that wait", () => {
    const place = createDesk(1);
    const claim = { clients: new Set(["a"]) };
    void place.ask("x", "running");
    void place.ask("a", "shared", { claim });
    expect([place.queue.othersWait("a"), place.queue.othersWait("b")]).toEqual([false, true]);
    place.queue.join(claim, "b");
    expect(place.queue.othersWait("b")).toBe(false);
  });
});

test("failed work frees its worker and rejects with its error", async () => {
  const queue = createRenderQueue({ workers: 1, maxQueue: 1 });
  const asked = { kind: "render", predictedMs: 1, signal: new AbortController().signal } as const;
  const claim = { clients: new Set(["a"]) };
  const failure = new Error("broken");
  await expect(queue.run({ ...asked, claim }, () => Promise.reject(failure))).rejects.toBe(failure);
  expect(await queue.run({ ...asked, claim }, async () => "done")).toBe("done");
});
