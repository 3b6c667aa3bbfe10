import assert from "node:assert/strict";
import type { VerificationQueue } from "@outrigger/core/lookup";
import { callBoth, type PairTest } from "../pair.ts";
import { LEASE_MS, listOf, NOW, rowOf, rowsOf, takeAll } from "./samples.ts";

/** Which rows are taken, by which process, and when again. */
export function takingBehaviour(it: PairTest<VerificationQueue>): void {
  it("take returns every due row once, with the facts of its list", async ({ one, another, id }) => {
    await one.add(listOf(id), rowsOf(250), null);
    const taken = await takeAll(another, NOW);
    assert.deepEqual(
      taken.map(({ position }) => position).sort((a, b) => a - b),
      Array.from({ length: 250 }, (_, index) => index),
    );
    const { position, email, ...facts } = taken[0] ?? assert.fail("no row was taken");
    assert.equal(email, `p${position}@example.com`);
    assert.deepEqual(facts, {
      list: id,
      account: `${id}-account`,
      plan: "free",
      createdAt: NOW,
      attempts: 0,
    });
    assert.equal((await one.get(id))?.isStarted, true);
  });

  it("take returns no row before the time at which it is due", async ({ one, id }) => {
    await one.add(listOf(id), rowsOf(1), null);
    assert.deepEqual(await one.take(9, LEASE_MS, NOW - 1), { rows: [], nextDueMs: NOW });
    assert.equal((await one.take(9, LEASE_MS, NOW)).rows.length, 1);
    assert.equal((await one.take(9, LEASE_MS, NOW)).nextDueMs, NOW + LEASE_MS);
  });

  it("the lease of a row that is not finished lapses, and any process takes it again", async (pair) => {
    const { one, another, id } = pair;
    await one.add(listOf(id), rowsOf(3), null);
    assert.equal((await takeAll(one, NOW)).length, 3);
    assert.equal((await takeAll(another, NOW + LEASE_MS - 1)).length, 0);
    assert.equal((await takeAll(another, NOW + LEASE_MS)).length, 3);
  });

  it("simultaneous calls never take the same row", async (pair) => {
    await pair.one.add(listOf(pair.id), rowsOf(200), null);
    const taken = await callBoth(pair, 20, (queue) => queue.take(10, LEASE_MS, NOW));
    const positions = taken.flatMap(({ rows }) => rows.map(({ position }) => position));
    assert.equal(positions.length, 200);
    assert.equal(new Set(positions).size, 200);
  });

  it("accounts with due rows get equal shares, however long their lists are", async (pair) => {
    const { one, another, id } = pair;
    const accounts = ["a", "b", "c"].map((name) => `${id}-${name}`);
    for (const [index, account] of accounts.entries()) {
      await one.add(listOf(account, account), rowsOf(index === 0 ? 500 : 40), null);
    }
    const counts = new Map<string | null, number>();
    for (let call = 0; call < 10; call++) {
      const { rows } = await (call % 2 === 0 ? one : another).take(7, LEASE_MS, NOW);
      assert.equal(rows.length, 7);
      for (const { account } of rows) counts.set(account, (counts.get(account) ?? 0) + 1);
    }
    for (const account of accounts) assert.ok(Math.abs((counts.get(account) ?? 0) - 70 / 3) <= 2, account);
  });

  it("single rows are taken in turn of accounts", async ({ one, id }) => {
    const accounts = ["a", "b", "c"].map((name) => `${id}-${name}`);
    for (const account of accounts) await one.add(listOf(account, account), rowsOf(5), null);
    const served = [];
    for (let call = 0; call < 6; call++) served.push((await one.take(1, LEASE_MS, NOW)).rows[0]?.account);
    assert.deepEqual(served, [...accounts, ...accounts]);
  });

  it("an account gets what other accounts leave of a call", async ({ one, id }) => {
    await one.add(listOf(`${id}-a`, `${id}-a`), rowsOf(100), null);
    await one.add(listOf(`${id}-b`, `${id}-b`), rowsOf(3), null);
    const { rows } = await one.take(50, LEASE_MS, NOW);
    assert.equal(rows.filter(({ account }) => account === `${id}-a`).length, 47);
  });

  it("a single row comes before the rows of the account's lists, is not found, and goes when it is finished", async (pair) => {
    const { one, another, id } = pair;
    const account = `${id}-account`;
    await one.add(listOf(id, account), rowsOf(30), null);
    const { header: _, ...single } = listOf(`${id}-single`, account);
    await one.addSingle(single, rowOf("Ada@example.com"));
    await another.addSingle(single, rowOf("Ada@example.com"));
    const [first] = (await another.take(1, LEASE_MS, NOW)).rows;
    assert.deepEqual([first?.list, first?.email], [single.id, "Ada@example.com"]);
    assert.equal(await one.get(single.id), null);
    assert.deepEqual(await one.rows(single.id, { offset: 0, limit: 10 }), []);
    const finished = { list: single.id, position: 0, result: "{}" };
    assert.equal(await one.finish([finished]), 1);
    assert.equal(await one.finish([finished]), 0);
    assert.equal((await takeAll(one, NOW)).length, 30);
    assert.equal((await takeAll(one, NOW + LEASE_MS)).length, 30);
  });

  it("a list without an account is taken, too", async ({ one, id }) => {
    await one.add(listOf(id, null), rowsOf(1), null);
    assert.equal((await one.take(1, LEASE_MS, NOW)).rows[0]?.account, null);
    assert.equal((await one.get(id))?.account, null);
  });

  it("a postponed row is due at its new time and counts its attempts", async ({ one, another, id }) => {
    await one.add(listOf(id), rowsOf(1), null);
    const row = { list: id, position: 0 };
    await one.take(1, LEASE_MS, NOW);
    await one.postpone(row, NOW + 5000, false);
    assert.deepEqual(await another.take(1, LEASE_MS, NOW + 4999), { rows: [], nextDueMs: NOW + 5000 });
    assert.equal((await another.take(1, LEASE_MS, NOW + 5000)).rows[0]?.attempts, 0);
    await another.postpone(row, NOW + 90_000, true);
    assert.equal((await takeAll(one, NOW + 60_000)).length, 0);
    assert.equal((await one.take(1, LEASE_MS, NOW + 90_000)).rows[0]?.attempts, 1);
  });

  it("a finished row is never due again, not even if it is postponed", async ({ one, id }) => {
    await one.add(listOf(id), rowsOf(2), null);
    await one.take(2, LEASE_MS, NOW);
    await one.finish([{ list: id, position: 0, result: "{}" }]);
    await one.postpone({ list: id, position: 0 }, NOW, false);
    const again = await takeAll(one, NOW + LEASE_MS);
    assert.deepEqual(
      again.map(({ position }) => position),
      [1],
    );
  });
}
