import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { type EntryOptions, FairGate, type GateOptions, type GateRefusal, type Slot } from "./fair-gate.ts";

const never = () => new AbortController().signal;

class Refused extends Error {
  readonly why: GateRefusal;
  constructor(why: GateRefusal) {
    super("refused");
    this.why = why;
  }
}

function gateOf(slots: number, maxQueue: number, options: Partial<GateOptions> = {}): FairGate {
  const refuse = (why: GateRefusal) => new Refused(why);
  return new FairGate({ slots, maxQueue, isPreemptive: true, refuse, ...options });
}

/** Enters for clients, and records the order in which they got a slot, or `null` for a refusal. */
function entrance(gate: FairGate) {
  const order: string[] = [];
  const slots = new Map<string, (Slot | null)[]>();
  const refusals: GateRefusal[] = [];
  const enter = async (client: string, given: Partial<EntryOptions> = {}) => {
    const slot = await gate
      .enter(client, { signal: never(), maxWaitMs: 60_000, ...given })
      .catch((error: unknown) => {
        if (!(error instanceof Refused)) throw error;
        refusals.push(error.why);
        return null;
      });
    order.push(client);
    slots.set(client, [...(slots.get(client) ?? []), slot]);
    return slot;
  };
  return { order, refusals, enter, of: (client: string) => slots.get(client) ?? [] };
}

const settled = async () => {
  for (let count = 0; count < 5; count++) await turn();
};

describe("FairGate", () => {
  test("the client that was charged least comes first", async () => {
    const { order, enter } = entrance(gateOf(1, 100));
    const serve = async (client: string, units: number) => {
      for (let count = 0; count < 4; count++) {
        const slot = await enter(client);
        slot?.charge(units);
        slot?.leave();
      }
    };
    await Promise.all([serve("costly", 30), serve("cheap", 10)]);
    expect(order.slice(0, 5)).toEqual(["costly", "cheap", "cheap", "cheap", "costly"]);
  });

  test("an idle client saves no credit: after others were served, it takes turns with them", async () => {
    const gate = gateOf(1, 100);
    const { order, enter } = entrance(gate);
    const late: Promise<void>[] = [];
    const serve = async (client: string, count: number) => {
      for (let index = 0; index < count; index++) {
        const slot = await enter(client);
        if (client === "early" && index === 5) late.push(serve("late", 4));
        slot?.charge(10);
        await turn();
        slot?.leave();
      }
    };
    // Another entry of the same client keeps the gate in use.
    await Promise.all([serve("early", 10), serve("early", 10)]);
    await Promise.all(late);
    const first = order.indexOf("late");
    expect(order.slice(first, first + 6).filter((client) => client === "late").length).toBeLessThan(5);
  });

  test("a client keeps at most a quarter of the slots while others wait: it loses its newest", async () => {
    const { enter, of } = entrance(gateOf(8, 100));
    for (let count = 0; count < 8; count++) void enter("greedy");
    await settled();
    expect(of("greedy")).toHaveLength(8);
    for (let count = 0; count < 3; count++) void enter("other");
    await settled();
    expect(of("other")).toHaveLength(3);
    expect(of("greedy").map((slot) => slot?.signal.aborted)).toEqual([
      ...[false, false, false, false, false],
      ...[true, true, true],
    ]);
  });

  test("four clients that fill all slots by their share lose one each to clients that have none", async () => {
    const { enter, of } = entrance(gateOf(64, 100));
    const greedy = ["a", "b", "c", "d"];
    for (const client of greedy) for (let count = 0; count < 16; count++) void enter(client);
    await settled();
    for (let count = 0; count < 6; count++) void enter(`new ${count}`);
    await settled();
    const kept = greedy.map((client) => of(client).filter((slot) => slot?.signal.aborted === false).length);
    expect(kept.sort()).toEqual([14, 14, 15, 15]);
    // Clients that have a slot wait for those of others to end.
    void enter("a");
    await settled();
    expect(of("a")).toHaveLength(16);
  });

  test("a client that has none gets a slot, also while one that was charged less waits for its second", async () => {
    const { enter, of } = entrance(gateOf(8, 100));
    for (const client of ["a", "a", "b", "b", "c", "c", "d"]) await enter(client);
    const slot = await enter("e");
    slot?.charge(10);
    slot?.leave();
    await enter("e");
    for (const client of ["d", "new"]) void enter(client);
    await settled();
    expect([of("d").length, of("new").length]).toEqual([1, 1]);
    expect(of("a").map((held) => held?.signal.aborted)).toEqual([false, true]);
  });

  test("clients that have equally many slots, and more than a quarter, take back none of each other", async () => {
    const { order, enter, of } = entrance(gateOf(8, 100));
    for (const client of ["a", "a", "a", "a", "b", "b", "b", "b"]) await enter(client);
    of("a")[0]?.charge(10);
    for (const client of ["b", "a", "b"]) void enter(client);
    await settled();
    expect(order).toHaveLength(8);
    expect([...of("a"), ...of("b")].filter((held) => held?.signal.aborted)).toEqual([]);
  });

  test("if the queue is full of clients with one entry each, the newest is refused, also if it came before", async () => {
    const { order, enter } = entrance(gateOf(2, 3));
    const held = await enter("a");
    (await enter("known"))?.leave();
    await enter("b");
    const waiting = ["c", "d", "e"].map((client) => enter(client));
    expect(await enter("known")).toBeNull();
    expect(await enter("f")).toBeNull();
    held?.leave();
    for (const slot of waiting) (await slot)?.leave();
    expect(order).toEqual(["a", "known", "b", "known", "f", "c", "d", "e"]);
  });

  test("if the queue is full, the client with most entries loses its newest waiting one", async () => {
    const { enter } = entrance(gateOf(1, 3));
    const held = await enter("a");
    const waiting = ["a", "a", "b", "c"].map((client) => enter(client));
    expect(await waiting[1]).toBeNull();
    held?.leave();
    for (const index of [0, 2, 3]) (await waiting[index])?.leave();
    expect(await Promise.all(waiting.map((slot) => slot))).toEqual([
      expect.anything(),
      null,
      expect.anything(),
      expect.anything(),
    ]);
  });

  test("an entry that waits too long is refused, and an aborted one its signal's reason; both leave the queue", async () => {
    const { enter } = entrance(gateOf(1, 100));
    const held = await enter("a");
    const controller = new AbortController();
    const aborted = enter("b", { signal: controller.signal });
    controller.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    await expect(enter("b", { signal: controller.signal })).rejects.toThrow("left");
    expect(await enter("c", { maxWaitMs: 1 })).toBeNull();
    held?.leave();
    held?.leave();
    const next = await enter("d");
    expect(next).not.toBeNull();
    expect(await enter("e", { maxWaitMs: 1 })).toBeNull();
  });

  test("a gate that is not preemptive preempts no slot, and gives each client at most its number of slots", async () => {
    const { order, enter, of } = entrance(gateOf(3, 100, { isPreemptive: false }));
    for (let count = 0; count < 4; count++) void enter("greedy", { maxSlots: 2 });
    await settled();
    expect(order).toEqual(["greedy", "greedy"]);
    for (const client of ["other", "third"]) void enter(client);
    await settled();
    expect(order).toEqual(["greedy", "greedy", "other"]);
    expect(of("greedy").some((slot) => slot?.signal.aborted)).toBe(false);
    of("greedy")[0]?.leave();
    await settled();
    expect(order.slice(3)).toEqual(["third"]);
  });

  test("a client with too many waiting entries is refused as their cause, with what those may be charged", async () => {
    const gate = gateOf(4, 100, { isPreemptive: false });
    const { enter, refusals } = entrance(gate);
    const slot = await enter("a");
    slot?.charge(800);
    slot?.leave();
    for (let count = 0; count < 6; count++) void enter("a", { maxSlots: 2, maxQueue: 3 });
    await settled();
    // The mean charge is an eighth of 800, and its two slots serve three entries.
    expect(refusals).toEqual([{ isOwn: true, expectedUnits: 150 }]);
    expect(gate.state).toEqual({ held: 2, waiting: 3 });
  });

  test("an entry without limits may hold all slots and fill the queue, and is not refused as the cause", async () => {
    const { order, enter, refusals } = entrance(gateOf(2, 3));
    for (let count = 0; count < 6; count++) void enter("host");
    await settled();
    expect(order).toEqual(["host", "host", "host"]);
    expect(refusals).toEqual([{ isOwn: false, expectedUnits: 0 }]);
  });

  test("if the queue is full of clients with one entry each, the client that was charged most is refused", async () => {
    const { enter, refusals } = entrance(gateOf(1, 3));
    const held = await enter("a");
    const much = enter("much");
    held?.leave();
    const other = await much;
    other?.charge(1000);
    void enter("b");
    other?.leave();
    await settled();
    const again = enter("much");
    for (const client of ["c", "d", "e"]) void enter(client);
    expect(await again).toBeNull();
    expect(refusals).toEqual([expect.objectContaining({ isOwn: false })]);
  });

  test("every fourth slot goes to the oldest entry that has waited for 10 s, whatever its client was charged", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { order, enter } = entrance(gateOf(1, 100));
      const held = await enter("much");
      held?.charge(1_000_000);
      const old = enter("much");
      const next = ["a", "b", "c", "d", "e"].map((client) => enter(client));
      vi.advanceTimersByTime(10_001);
      held?.leave();
      for (const entry of next) void entry.then((slot) => slot?.leave());
      await old;
      expect(order).toEqual(["much", "a", "b", "much"]);
    } finally {
      vi.useRealTimers();
    }
  });

  test("the last free slot is kept from a client for a minute after it was charged much for one slot", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const { order, enter, of } = entrance(gateOf(2, 100, { isPreemptive: false, cheapUnits: 150 }));
      const costly = await enter("a");
      for (let count = 0; count < 3; count++) void enter("a");
      await settled();
      // It was not charged yet, so its second entry waits, too.
      expect(of("a")).toHaveLength(1);
      costly?.charge(151);
      costly?.leave();
      await settled();
      expect(of("a")).toHaveLength(2);
      void enter("cheap");
      await settled();
      expect(order).toEqual(["a", "a", "cheap"]);
      of("cheap")[0]?.leave();
      void enter("cheap");
      await settled();
      expect(order).toEqual(["a", "a", "cheap", "cheap"]);
      of("cheap")[1]?.leave();
      vi.advanceTimersByTime(60_000);
      void enter("a");
      await settled();
      expect(of("a").length).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });

  test("tells whether another client waits", async () => {
    const gate = gateOf(1, 100);
    const { enter } = entrance(gate);
    await enter("a");
    void enter("a");
    expect([gate.othersWait("a"), gate.othersWait("b")]).toEqual([false, true]);
  });
});
