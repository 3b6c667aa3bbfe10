import { describe, expect, test } from "vitest";
import type { Claim, WorkKind } from "./queue-order.ts";
import { createRenderQueue } from "./render-queue.ts";

const CHEAP_MS = 20;
const DEAR_MS = 5_000;

interface Asked {
  kind?: WorkKind;
  predictedMs?: number;
  claim?: Claim;
  signal?: AbortSignal;
}

/** A queue on a manual clock, whose work ends only when the test ends it. */
function desk(workers: number, maxQueue = 64, boundsClients = true) {
  const clock = { now: 0 };
  const queue = createRenderQueue({ workers, maxQueue, boundsClients, nowMs: () => clock.now });
  /** Names of running work, in the order of its start. */
  const underWay: string[] = [];
  const begun: string[] = [];
  const payers = new Map<string, string>();
  const refused = new Map<string, unknown>();
  const enders = new Map<string, () => void>();

  function ask(client: string, name: string, asked: Asked = {}): Promise<void> {
    const { kind = "render", predictedMs = CHEAP_MS, claim = { clients: new Set([client]) } } = asked;
    const { signal = new AbortController().signal } = asked;
    return queue
      .run({ kind, predictedMs, claim, signal }, ({ client: payer, onCost }) => {
        underWay.push(name);
        begun.push(name);
        payers.set(name, payer);
        return new Promise<void>((resolve) => {
          enders.set(name, () => {
            underWay.splice(underWay.indexOf(name), 1);
            onCost(predictedMs);
            resolve();
          });
        });
      })
      .catch((error: unknown) => void refused.set(name, error));
  }

  /** Ends some work, and lets the next begin. */
  async function end(name: string): Promise<void> {
    enders.get(name)?.();
    await settled();
  }

  /** Ends all work, oldest first. @returns the names in the order of their start. */
  async function endAll(): Promise<string[]> {
    for (let name = underWay[0]; name !== undefined; name = underWay[0]) await end(name);
    return begun;
  }

  return { clock, queue, underWay, payers, refused, ask, end, endAll };
}

/** Runs pending microtasks; no test here waits for anything else. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

function askMany(place: ReturnType<typeof desk>, client: string, count: number, asked: Asked = {}): void {
  for (let n = 1; n <= count; n++) void place.ask(client, `${client}${n}`, asked);
}

describe("the turns of clients", () => {
  test("let a newcomer go before the queued work of others", async () => {
    const place = desk(1);
    askMany(place, "a", 4);
    askMany(place, "b", 4);
    await place.end("a1");
    void place.ask("new", "new1");
    await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toEqual(["new1"]);
  });

  test("let a newcomer go before 50 clients that flood the queue", async () => {
    const place = desk(2, 200);
    for (let n = 0; n < 50; n++) askMany(place, `spray${n}-`, 3);
    for (let n = 0; n < 70; n++) await place.end(place.underWay[0] ?? "");
    void place.ask("new", "new1");
    await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toContain("new1");
  });

  test("alternate between two clients with equal work", async () => {
    const place = desk(1);
    askMany(place, "a", 3);
    askMany(place, "b", 3);
    expect(await place.endAll()).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
  });

  test("put a client that used much CPU time behind one that waited meanwhile", async () => {
    const place = desk(1);
    void place.ask("much", "dear", { predictedMs: DEAR_MS });
    for (let n = 1; n <= 4; n++) void place.ask("little", `little${n}`);
    void place.ask("much", "more");
    expect(await place.endAll()).toEqual(["dear", "little1", "little2", "little3", "little4", "more"]);
  });

  test("do not count CPU time that a client used while it was alone", async () => {
    const place = desk(1);
    for (let n = 1; n <= 20; n++) {
      void place.ask("early", `early${n}`);
      await place.end(`early${n}`);
    }
    for (let n = 1; n <= 4; n++) void place.ask(`spray${n}`, `spray${n}`);
    void place.ask("early", "next");
    for (let n = 1; n <= 4; n++) void place.ask(`spray${n}`, `again${n}`);
    await place.end("spray1");
    for (let n = 2; n <= 4; n++) await place.end(`spray${n}`);
    expect(place.underWay).toEqual(["next"]);
  });

  test("halve the excess use of an idle client every 30 s", async () => {
    const place = desk(1);
    void place.ask("much", "dear", { predictedMs: 80 });
    void place.ask("other", "other");
    await place.end("dear");
    await place.end("other");
    place.clock.now += 60_000;
    void place.ask("other", "first");
    void place.ask("much", "forgiven");
    void place.ask("other", "second");
    void place.ask("other", "third");
    // Its use is 15 ms above that of the other client, less than the other's running work.
    await place.end("first");
    expect(place.underWay).toEqual(["forgiven"]);
  });

  test("put a client's cheap work before its dear work", async () => {
    const place = desk(1);
    void place.ask("b", "running");
    void place.ask("a", "dear", { predictedMs: DEAR_MS });
    void place.ask("a", "cheap");
    await place.end("running");
    expect(place.underWay).toEqual(["cheap"]);
  });
});

describe("cheap and dear work", () => {
  test("dear work leaves one of two workers free", async () => {
    const place = desk(2);
    for (const client of ["a", "b", "c"]) void place.ask(client, client, { predictedMs: DEAR_MS });
    expect(place.underWay).toEqual(["a"]);
    void place.ask("d", "cheap");
    expect(place.underWay).toEqual(["a", "cheap"]);
    await place.end("cheap");
    expect(place.underWay).toEqual(["a"]);
    await place.end("a");
    expect(place.underWay).toEqual(["b"]);
  });

  test("with one worker, cheap work of every client goes before dear work", async () => {
    const place = desk(1);
    void place.ask("a", "running", { predictedMs: DEAR_MS });
    void place.ask("b", "dear", { predictedMs: DEAR_MS });
    void place.ask("a", "cheap");
    await place.end("running");
    expect(place.underWay).toEqual(["cheap"]);
  });

  test("work queued for 10 s gets every fourth start before all other work", async () => {
    const place = desk(1);
    void place.ask("a", "running");
    void place.ask("b", "dear", { predictedMs: DEAR_MS });
    for (let n = 1; n <= 12; n++) void place.ask(`new${n}`, `cheap${n}`);
    place.clock.now += 10_001;
    for (let n = 0; n < 3; n++) await place.end(place.underWay[0] ?? "");
    expect(place.underWay).toEqual(["dear"]);
  });

  test("dear work queued for 10 s gets the next worker that may take dear work", async () => {
    const place = desk(2);
    void place.ask("a", "running", { predictedMs: DEAR_MS });
    void place.ask("a", "patient", { predictedMs: DEAR_MS });
    place.clock.now += 10_001;
    for (let n = 1; n <= 8; n++) {
      void place.ask(`b${n}`, `cheap${n}`);
      await place.end(`cheap${n}`);
    }
    for (let n = 1; n <= 3; n++) void place.ask(`new${n}`, `dear${n}`, { predictedMs: DEAR_MS });
    await place.end("running");
    expect(place.underWay).toEqual(["patient"]);
  });
});

describe("renders and uploads", () => {
  test("renders and admissions alternate on one worker", async () => {
    const place = desk(1);
    void place.ask("x", "running");
    askMany(place, "r", 3);
    for (let n = 1; n <= 3; n++) void place.ask("u", `u${n}`, { kind: "admit" });
    expect(await place.endAll()).toEqual(["running", "u1", "r1", "u2", "r2", "u3", "r3"]);
  });

  test("with admissions running on all workers, a render goes before the next admission", async () => {
    const place = desk(3);
    void place.ask("a", "a1", { kind: "admit" });
    void place.ask("b", "b1", { kind: "admit" });
    void place.ask("c", "c1", { kind: "admit" });
    void place.ask("d", "d1", { kind: "admit" });
    void place.ask("e", "render");
    await place.end("a1");
    expect(place.underWay).toEqual(["b1", "c1", "render"]);
  });

  test("background work starts if no client waits, and at every fourth start after 10 s", async () => {
    const place = desk(1);
    void place.ask("x", "running");
    void place.ask("jobs", "behind", { kind: "background" });
    for (let n = 1; n <= 6; n++) void place.ask(`p${n}`, `p${n}`);
    for (const name of ["running", "p1"]) await place.end(name);
    expect(place.underWay).toEqual(["p2"]);
    place.clock.now += 10_001;
    for (const name of ["p2", "p3"]) await place.end(name);
    expect(place.underWay).toEqual(["behind"]);
  });
});

describe("the limits of the queue", () => {
  test("a client may have two renders running and eight queued; the next rejects with rate_limited", async () => {
    const place = desk(4);
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
    const place = desk(4, 20, false);
    askMany(place, "a", 25, { kind: "admit" });
    await settled();
    expect(place.underWay.length).toBe(4);
    expect([...place.refused]).toEqual([["a25", expect.objectContaining({ code: "overloaded" })]]);
  });

  test("uploads of a client are limited separately from its renders", async () => {
    const place = desk(4);
    askMany(place, "a", 10);
    for (let n = 1; n <= 19; n++) void place.ask("a", `u${n}`, { kind: "admit" });
    await settled();
    expect(place.underWay).toEqual(["a1", "a2", "u1", "u2"]);
    expect([...place.refused.keys()]).toEqual(["u19"]);
  });

  test("in a full queue a newcomer displaces the newest work of the client with the most places", async () => {
    const place = desk(1, 6);
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
    const place = desk(1, 3);
    void place.ask("x", "running", { predictedMs: 3_000 });
    for (const client of ["a", "b", "c", "new"]) void place.ask(client, client, { predictedMs: 2_000 });
    await settled();
    expect([...place.refused.keys()]).toEqual(["new"]);
    expect(place.refused.get("new")).toMatchObject({ code: "overloaded", retryAfterMs: 9_000 });
  });

  test("if every client has one place, a newcomer displaces the client that used the most CPU time", async () => {
    const place = desk(1, 3);
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
    const place = desk(1, 4);
    void place.ask("x", "running");
    askMany(place, "a", 2);
    askMany(place, "b", 3);
    await settled();
    expect([...place.refused.keys()]).toEqual(["b3"]);
    expect(place.refused.get("b3")).toMatchObject({ code: "rate_limited" });
  });

  test("without a queue, work beyond the number of workers rejects with overloaded", async () => {
    const place = desk(2, 0);
    for (const client of ["a", "b", "c"]) void place.ask(client, client);
    await settled();
    expect(place.underWay).toEqual(["a", "b"]);
    expect(place.refused.get("c")).toMatchObject({ code: "overloaded" });
  });

  test("an aborted signal removes queued work and leaves running work alone", async () => {
    const place = desk(1);
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
    const place = desk(1);
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
    const place = desk(3);
    const claim = { clients: new Set(["a"]) };
    askMany(place, "a", 2);
    void place.ask("a", "shared", { claim });
    expect(place.underWay).toEqual(["a1", "a2"]);
    place.queue.join(claim, "new");
    expect(place.underWay).toEqual(["a1", "a2", "shared"]);
  });

  test("does not count among the others that wait", () => {
    const place = desk(1);
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
