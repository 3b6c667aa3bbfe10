import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { FairGate, type Visit } from "./fair-gate.ts";

const never = () => new AbortController().signal;

/** Enters for clients, and records the order in which they got a place. */
function desk(gate: FairGate) {
  const order: string[] = [];
  const visits = new Map<string, (Visit | null)[]>();
  const enter = async (client: string, given: { signal?: AbortSignal; longestWaitMs?: number } = {}) => {
    const visit = await gate.enter(client, { signal: never(), longestWaitMs: 60_000, ...given });
    order.push(client);
    visits.set(client, [...(visits.get(client) ?? []), visit]);
    return visit;
  };
  return { order, enter, of: (client: string) => visits.get(client) ?? [] };
}

const settled = async () => {
  for (let count = 0; count < 5; count++) await turn();
};

describe("FairGate", () => {
  test("the client that was charged least comes first", async () => {
    const { order, enter } = desk(new FairGate(1, 100));
    const serve = async (client: string, units: number) => {
      for (let count = 0; count < 4; count++) {
        const visit = await enter(client);
        visit?.charge(units);
        visit?.leave();
      }
    };
    await Promise.all([serve("costly", 30), serve("cheap", 10)]);
    expect(order.slice(0, 5)).toEqual(["costly", "cheap", "cheap", "cheap", "costly"]);
  });

  test("an idle client saves no credit: after others were served, it takes turns with them", async () => {
    const gate = new FairGate(1, 100);
    const { order, enter } = desk(gate);
    const late: Promise<void>[] = [];
    const serve = async (client: string, count: number) => {
      for (let index = 0; index < count; index++) {
        const visit = await enter(client);
        if (client === "early" && index === 5) late.push(serve("late", 4));
        visit?.charge(10);
        await turn();
        visit?.leave();
      }
    };
    // Another visitor of the same client keeps the gate in use.
    await Promise.all([serve("early", 10), serve("early", 10)]);
    await Promise.all(late);
    const first = order.indexOf("late");
    expect(order.slice(first, first + 6).filter((client) => client === "late").length).toBeLessThan(5);
  });

  test("a client keeps at most a quarter of the places while others wait: it loses its newest", async () => {
    const { enter, of } = desk(new FairGate(8, 100));
    for (let count = 0; count < 8; count++) void enter("greedy");
    await settled();
    expect(of("greedy")).toHaveLength(8);
    for (let count = 0; count < 3; count++) void enter("other");
    await settled();
    expect(of("other")).toHaveLength(3);
    expect(of("greedy").map((visit) => visit?.signal.aborted)).toEqual([
      ...[false, false, false, false, false],
      ...[true, true, true],
    ]);
  });

  test("four clients that fill all places by their share lose one each to clients that have none", async () => {
    const { enter, of } = desk(new FairGate(64, 100));
    const greedy = ["a", "b", "c", "d"];
    for (const client of greedy) for (let count = 0; count < 16; count++) void enter(client);
    await settled();
    for (let count = 0; count < 6; count++) void enter(`new ${count}`);
    await settled();
    const kept = greedy.map((client) => of(client).filter((visit) => visit?.signal.aborted === false).length);
    expect(kept.sort()).toEqual([14, 14, 15, 15]);
    // Clients that have a place wait for those of others to end.
    void enter("a");
    await settled();
    expect(of("a")).toHaveLength(16);
  });

  test("a client that has none gets a place, also while one that was charged less waits for its second", async () => {
    const { enter, of } = desk(new FairGate(8, 100));
    for (const client of ["a", "a", "b", "b", "c", "c", "d"]) await enter(client);
    const visit = await enter("e");
    visit?.charge(10);
    visit?.leave();
    await enter("e");
    for (const client of ["d", "new"]) void enter(client);
    await settled();
    expect([of("d").length, of("new").length]).toEqual([1, 1]);
    expect(of("a").map((held) => held?.signal.aborted)).toEqual([false, true]);
  });

  test("clients that have equally many places, and more than a quarter, take back none of each other", async () => {
    const { order, enter, of } = desk(new FairGate(8, 100));
    for (const client of ["a", "a", "a", "a", "b", "b", "b", "b"]) await enter(client);
    of("a")[0]?.charge(10);
    for (const client of ["b", "a", "b"]) void enter(client);
    await settled();
    expect(order).toHaveLength(8);
    expect([...of("a"), ...of("b")].filter((held) => held?.signal.aborted)).toEqual([]);
  });

  test("if the line is full of clients with one visit each, the newest is refused, also if it came before", async () => {
    const { order, enter } = desk(new FairGate(2, 3));
    const held = await enter("a");
    (await enter("known"))?.leave();
    await enter("b");
    const waiting = ["c", "d", "e"].map((client) => enter(client));
    expect(await enter("known")).toBeNull();
    expect(await enter("f")).toBeNull();
    held?.leave();
    for (const visit of waiting) (await visit)?.leave();
    expect(order).toEqual(["a", "known", "b", "known", "f", "c", "d", "e"]);
  });

  test("if the line is full, the client with most visits loses its newest waiting one", async () => {
    const { enter } = desk(new FairGate(1, 3));
    const held = await enter("a");
    const waiting = ["a", "a", "b", "c"].map((client) => enter(client));
    expect(await waiting[1]).toBeNull();
    held?.leave();
    for (const index of [0, 2, 3]) (await waiting[index])?.leave();
    expect(await Promise.all(waiting.map((visit) => visit))).toEqual([
      expect.anything(),
      null,
      expect.anything(),
      expect.anything(),
    ]);
  });

  test("a visit that waits too long gets null, and an aborted one its signal's reason; both leave the line", async () => {
    const { enter } = desk(new FairGate(1, 100));
    const held = await enter("a");
    const controller = new AbortController();
    const aborted = enter("b", { signal: controller.signal });
    controller.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    await expect(enter("b", { signal: controller.signal })).rejects.toThrow("left");
    expect(await enter("c", { longestWaitMs: 1 })).toBeNull();
    held?.leave();
    held?.leave();
    const next = await enter("d");
    expect(next).not.toBeNull();
    expect(await enter("e", { longestWaitMs: 1 })).toBeNull();
  });
});
