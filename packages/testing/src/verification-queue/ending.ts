import assert from "node:assert/strict";
import type { VerificationQueue } from "@outrigger/core/lookup";
import { callBoth, type PairTest } from "../pair.ts";
import { LEASE_MS, listOf, NOW, rowOf, rowsOf } from "./samples.ts";

const END = { at: NOW, state: '{"to":"“a”"}' };

/** Which lists get an event, which process takes it, and when again. */
export function endingBehaviour(it: PairTest<VerificationQueue>): void {
  const result = (list: string, position: number) => ({ list, position, result: "{}" });
  const taken = (list: string, account: string | null, total: number) => {
    return { ...END, list, account, total, leaseUntilMs: NOW + LEASE_MS };
  };

  it("the last result of a list stores its event, which is taken once", async ({ one, another, id }) => {
    await one.add(listOf(id, null), rowsOf(2), null);
    await one.finish([result(id, 0)], END);
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW), []);
    await one.finish([result(id, 1)], END);
    await one.finish([result(id, 1)], { ...END, state: "again" });
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW - 1), []);
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW), [taken(id, null, 2)]);
    assert.deepEqual(await one.takeEnds(9, LEASE_MS, NOW + LEASE_MS - 1), []);
    assert.equal((await one.takeEnds(9, LEASE_MS, NOW + LEASE_MS)).length, 1);
  });

  it("a list that is added with all results, or finished by an erasure, has an event", async (pair) => {
    const { one, another, id } = pair;
    await one.add(listOf(`${id}-1`), [{ ...rowOf(""), result: "{}" }], null, undefined, END);
    await one.add(listOf(`${id}-2`), [rowOf("ada@example.com")], null, undefined, END);
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW), [taken(`${id}-1`, `${id}-1-account`, 1)]);
    await one.erase("ada@example.com", "{}", END);
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW), [taken(`${id}-2`, `${id}-2-account`, 1)]);
  });

  it("single rows, and lists that end without an event, have none", async ({ one, another, id }) => {
    await one.addSingle(listOf(`${id}-1`), rowOf("ada@example.com"));
    await one.add(listOf(`${id}-2`), rowsOf(1), null);
    await one.finish([result(`${id}-1`, 0)], END);
    await one.finish([result(`${id}-2`, 0)]);
    assert.deepEqual(await another.takeEnds(9, LEASE_MS, NOW), []);
    assert.deepEqual(await one.countEnds(), { waiting: 0, oldestAt: null, dead: 0 });
  });

  it("simultaneous calls never take the same event", async (pair) => {
    const lists = Array.from({ length: 40 }, (_, index) => `${pair.id}-${index}`);
    for (const list of lists) {
      await pair.one.add(listOf(list), [{ ...rowOf(""), result: "{}" }], null, undefined, END);
    }
    const all = await callBoth(pair, 10, (queue) => queue.takeEnds(5, LEASE_MS, NOW));
    assert.ok(all.every((each) => each.length <= 5));
    // Calls that meet a lock may take fewer.
    while (all.flat().length < 40) all.push(await pair.one.takeEnds(40, LEASE_MS, NOW));
    assert.deepEqual(all.flatMap((each) => each.map(({ list }) => list)).sort(), lists.sort());
  });

  it("settling an event postpones or ends it, unless it was taken again", async ({ one, another, id }) => {
    await one.add(listOf(id), [{ ...rowOf(""), result: "{}" }], null, undefined, END);
    const [first = assert.fail("no event was taken")] = await one.takeEnds(9, LEASE_MS, NOW);
    await one.settleEnd(first, { state: "later", dueMs: NOW + 9, isDead: true });
    assert.deepEqual(await another.countEnds(), { waiting: 1, oldestAt: NOW, dead: 1 });
    const [second = assert.fail("no event was taken")] = await another.takeEnds(9, LEASE_MS, NOW + 9);
    assert.equal(second.state, "later");
    await one.settleEnd(first, { state: "stale", dueMs: null, isDead: false });
    assert.equal((await one.countEnds()).waiting, 1);
    await another.settleEnd(second, { state: "over", dueMs: null, isDead: false });
    assert.deepEqual(await one.takeEnds(9, LEASE_MS, NOW + 10 * LEASE_MS), []);
    assert.deepEqual(await one.countEnds(), { waiting: 0, oldestAt: null, dead: 1 });
  });
}
