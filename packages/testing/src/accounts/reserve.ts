import assert from "node:assert/strict";
import { type Accounts, type Charge, RESERVATION_MS, type ReserveResult } from "@outrigger/core/lookup";
import { callBoth, type PairTest } from "../pair.ts";
import { accountOf } from "./samples.ts";

const NOW_MS = Date.UTC(2026, 2, 15);
const MONTH = "2026-03";
const EXHAUSTED: ReserveResult = { outcome: "exhausted" };
const reserved = (points: number): ReserveResult => ({ outcome: "reserved", points });
const repeat = (points: number): ReserveResult => ({ outcome: "repeat", points });

/** Reserving and settling points, and their expiry. */
export function reserveBehaviour(test: PairTest<Accounts>): void {
  const it: PairTest<Accounts> = (name, body) =>
    test(name, async (pair) => {
      await pair.one.create(accountOf(pair.id));
      await body(pair);
    });

  it("reserve grants the requested points until none are left, and at last those that remain", async (pair) => {
    const { one, another, id } = pair;
    const reserve = (request: string, points: number) =>
      one.reserve(chargeOf(id, request), points, 10, NOW_MS);
    assert.deepEqual(await reserve("a", 4), reserved(4));
    assert.deepEqual(await reserve("b", 4), reserved(4));
    // The points that are left.
    assert.deepEqual(await reserve("c", 4), reserved(2));
    assert.deepEqual(await reserve("d", 1), EXHAUSTED);
    assert.deepEqual(await another.usage(id, MONTH, NOW_MS), { searches: 10, verifications: 0 });
    await one.settle(chargeOf(id, "b"), 4);
    assert.deepEqual(await reserve("d", 1), EXHAUSTED);
    assert.deepEqual(await one.reserve(chargeOf(id, "e"), 3, 0, NOW_MS), EXHAUSTED);
    // A larger allowance leaves more points.
    const larger = await one.reserve(chargeOf(id, "e"), 3, 12, NOW_MS);
    assert.deepEqual(larger, reserved(2));
  });

  it("the same request is charged once, while it is reserved and after it is settled", async (pair) => {
    const { one, another, id } = pair;
    const charge = chargeOf(id, "a");
    assert.deepEqual(await one.reserve(charge, 3, 3, NOW_MS), reserved(3));
    assert.deepEqual(await another.reserve(charge, 3, 3, NOW_MS), repeat(3));
    await one.settle(charge, 2);
    const muchLater = NOW_MS + 100 * RESERVATION_MS;
    assert.deepEqual(await another.reserve(charge, 3, 3, muchLater), repeat(2));
    assert.equal((await one.usage(id, MONTH, muchLater)).searches, 2);
    const last = await one.reserve(chargeOf(id, "b"), 3, 3, muchLater);
    assert.deepEqual(last, reserved(1));
    // Also if no points are left.
    assert.deepEqual(await another.reserve(charge, 1, 3, muchLater), repeat(2));
  });

  it("of two identical requests at the same time, one is charged", async ({ one, another, id }) => {
    for (let turn = 0; turn < 10; turn++) {
      const results = await Promise.all(
        [one, another].map((accounts) => accounts.reserve(chargeOf(id, `r${turn}`), 2, 100, NOW_MS)),
      );
      assert.deepEqual(results.map(({ outcome }) => outcome).toSorted(), ["repeat", "reserved"]);
    }
    assert.equal((await one.usage(id, MONTH, NOW_MS)).searches, 20);
  });

  it("preview returns what reserve would return, and changes nothing", async ({ one, another, id }) => {
    const preview = one.preview.bind(one);
    const charge = chargeOf(id, "a");
    assert.deepEqual(await preview(charge, 4, 10, NOW_MS), reserved(4));
    assert.deepEqual(await preview(charge, 14, 10, NOW_MS), reserved(10));
    assert.deepEqual(await preview(charge, 1, 0, NOW_MS), EXHAUSTED);
    assert.equal((await another.usage(id, MONTH, NOW_MS)).searches, 0);
    await another.reserve(charge, 7, 10, NOW_MS);
    assert.deepEqual(await preview(charge, 1, 10, NOW_MS), repeat(7));
    assert.deepEqual(await preview(chargeOf(id, "b"), 4, 10, NOW_MS), reserved(3));
    const lapsedMs = NOW_MS + RESERVATION_MS;
    assert.deepEqual(await preview(charge, 4, 10, lapsedMs), reserved(4));
    await another.settle(charge, 10);
    assert.deepEqual(await preview(chargeOf(id, "b"), 1, 10, lapsedMs), EXHAUSTED);
    assert.deepEqual(await preview(charge, 1, 10, lapsedMs), repeat(10));
  });

  it("charge takes points once for a request, at last those that remain, and none of them lapse", async (pair) => {
    const { one, another, id } = pair;
    const charge = one.charge.bind(one);
    const [a, b, c] = [chargeOf(id, "a"), chargeOf(id, "b"), chargeOf(id, "c")];
    assert.deepEqual(await charge(a, 6, 10, NOW_MS), reserved(6));
    assert.deepEqual(await charge(a, 6, 10, NOW_MS), repeat(6));
    // A settled request stays unchanged.
    await another.settle(a, 1);
    assert.deepEqual(await another.reserve(b, 3, 10, NOW_MS), reserved(3));
    assert.deepEqual(await charge(b, 3, 10, NOW_MS), repeat(3));
    assert.deepEqual(await charge(c, 5, 10, NOW_MS), reserved(1));
    assert.deepEqual(await charge(chargeOf(id, "d"), 1, 10, NOW_MS), EXHAUSTED);
    const lapsedMs = NOW_MS + RESERVATION_MS;
    assert.equal((await another.usage(id, MONTH, lapsedMs)).searches, 7);
    // A lapsed reservation is charged anew.
    assert.deepEqual(await charge(b, 2, 10, lapsedMs), reserved(2));
    assert.equal((await another.usage(id, MONTH, lapsedMs)).searches, 9);
  });

  it("of 1,000 simultaneous charges and reservations with 100 points left, exactly 100 are accepted", async (pair) => {
    const { one, id } = pair;
    const results = await callBoth(pair, 1000, (accounts, index) => {
      const charge = chargeOf(id, `r${index}`);
      return index % 4 < 2
        ? accounts.reserve(charge, 1, 100, NOW_MS)
        : accounts.charge(charge, 1, 100, NOW_MS);
    });
    const accepted = results.filter(({ outcome }) => outcome === "reserved");
    assert.equal(accepted.length, 100);
    assert.ok(results.every(({ outcome }) => outcome === "reserved" || outcome === "exhausted"));
    assert.equal((await one.usage(id, MONTH, NOW_MS)).searches, 100);
  });

  it("simultaneous reservations never exceed the allowance", async (pair) => {
    const { another, id } = pair;
    const results = await callBoth(pair, 90, (accounts, index) =>
      accounts.reserve(chargeOf(id, `r${index}`), 1 + (index % 7), 100, NOW_MS),
    );
    const points = results.reduce((sum, result) => sum + ("points" in result ? result.points : 0), 0);
    assert.equal(points, 100);
    assert.equal((await another.usage(id, MONTH, NOW_MS)).searches, 100);
  });

  it("settle with 0 cancels the reservation", async ({ one, another, id }) => {
    const charge = chargeOf(id, "a");
    await one.reserve(charge, 5, 5, NOW_MS);
    await another.settle(charge, 0);
    assert.equal((await one.usage(id, MONTH, NOW_MS)).searches, 0);
    assert.deepEqual(await one.reserve(charge, 5, 5, NOW_MS), reserved(5));
    await another.settle(charge, 0);
    await another.settle(charge, 0);
    assert.equal((await one.usage(id, MONTH, NOW_MS)).searches, 0);
  });

  it("settle returns the points that a request did not use, and only once", async (pair) => {
    const { one, another, id } = pair;
    const charge = chargeOf(id, "a");
    await one.reserve(charge, 5, 10, NOW_MS);
    await one.settle(charge, 2);
    await another.settle(charge, 2);
    await one.settle(charge, 1);
    assert.equal((await another.usage(id, MONTH, NOW_MS)).searches, 2);
    assert.deepEqual(await one.reserve(chargeOf(id, "b"), 10, 10, NOW_MS), reserved(8));
    // A charge without a reservation cannot be settled.
    await one.settle(chargeOf(id, "c"), 3);
    assert.equal((await another.usage(id, MONTH, NOW_MS)).searches, 10);
  });

  it("many simultaneous settle calls add up to their total cost", async ({ one, another, id }) => {
    const charges = Array.from({ length: 60 }, (_, index) => chargeOf(id, `r${index}`));
    await Promise.all(charges.map((charge) => one.reserve(charge, 3, 1000, NOW_MS)));
    await Promise.all(
      charges.flatMap((charge, index) => [one.settle(charge, index % 4), another.settle(charge, index % 4)]),
    );
    const cost = charges.reduce((sum, _, index) => sum + (index % 4), 0);
    assert.equal((await one.usage(id, MONTH, NOW_MS)).searches, cost);
  });

  it("a reservation that is neither settled nor renewed lapses within a minute", async (pair) => {
    const { one, another, id } = pair;
    assert.ok(RESERVATION_MS <= 60_000);
    await one.reserve(chargeOf(id, "lost"), 6, 10, NOW_MS);
    await one.reserve(chargeOf(id, "done"), 3, 10, NOW_MS);
    await one.settle(chargeOf(id, "done"), 3);
    const justBefore = NOW_MS + RESERVATION_MS - 1;
    assert.equal((await another.usage(id, MONTH, justBefore)).searches, 9);
    assert.deepEqual(await another.reserve(chargeOf(id, "lost"), 6, 10, justBefore), repeat(6));
    const after = NOW_MS + RESERVATION_MS;
    assert.equal((await another.usage(id, MONTH, after)).searches, 3);
    // The same request is charged again, and its reservation is a new one.
    assert.deepEqual(await another.reserve(chargeOf(id, "lost"), 6, 10, after), reserved(6));
    assert.equal((await one.usage(id, MONTH, after + RESERVATION_MS - 1)).searches, 9);
    assert.deepEqual(await one.reserve(chargeOf(id, "new"), 9, 10, after), reserved(1));
    const nextDay = after + 2000 * RESERVATION_MS;
    assert.deepEqual(await one.reserve(chargeOf(id, "next"), 9, 10, nextDay), reserved(7));
  });

  it("a renewed reservation counts until it is settled", async ({ one, another, id }) => {
    const charges = ["a", "b", "c"].map((request) => chargeOf(id, request));
    for (const charge of charges) await one.reserve(charge, 2, 10, NOW_MS);
    let nowMs = NOW_MS;
    for (let turn = 0; turn < 5; turn++) {
      nowMs += RESERVATION_MS - 1;
      await another.renew(charges, nowMs);
      assert.equal((await one.usage(id, MONTH, nowMs + RESERVATION_MS - 1)).searches, 6);
    }
    const [a, b] = charges;
    if (a === undefined || b === undefined) return assert.fail();
    assert.deepEqual(await another.reserve(a, 2, 10, nowMs + 1), repeat(2));
    await one.settle(a, 1);
    await one.settle(b, 0);
    await another.renew(charges, nowMs + 1);
    assert.equal((await one.usage(id, MONTH, nowMs + 1)).searches, 3);
    // Only `c` was still a reservation.
    assert.equal((await one.usage(id, MONTH, nowMs + 1 + RESERVATION_MS)).searches, 1);
  });

  it("renew does not revive a lapsed reservation", async ({ one, another, id }) => {
    const lapsed = chargeOf(id, "lapsed");
    await one.reserve(lapsed, 6, 10, NOW_MS);
    const after = NOW_MS + RESERVATION_MS;
    await one.renew([lapsed, chargeOf(id, "never made")], after);
    assert.equal((await another.usage(id, MONTH, after)).searches, 0);
    const next = await another.reserve(chargeOf(id, "next"), 10, 10, after);
    assert.deepEqual(next, reserved(10));
    await one.renew([], after);
  });

  it("months, kinds and accounts are counted separately", async ({ one, another, id }) => {
    const other = `${id}-other`;
    await one.create(accountOf(other));
    const charges: Charge[] = [
      chargeOf(id, "same"),
      { ...chargeOf(id, "same"), kind: "verifications" },
      { ...chargeOf(id, "same"), month: "2026-04" },
      { ...chargeOf(id, "same"), month: "2025-03" },
      chargeOf(other, "same"),
    ];
    for (const [index, charge] of charges.entries()) {
      const result = await one.reserve(charge, index + 1, 5, NOW_MS);
      assert.deepEqual(result, reserved(index + 1));
      if (index % 2 === 0) await another.settle(charge, index + 1);
    }
    assert.deepEqual(await another.usage(id, MONTH, NOW_MS), { searches: 1, verifications: 2 });
    assert.deepEqual(await another.usage(id, "2026-04", NOW_MS), { searches: 3, verifications: 0 });
    assert.deepEqual(await another.usage(id, "2025-03", NOW_MS), { searches: 4, verifications: 0 });
    assert.deepEqual(await another.usage(other, MONTH, NOW_MS), { searches: 5, verifications: 0 });
    assert.deepEqual(await another.usage(id, "2026-05", NOW_MS), { searches: 0, verifications: 0 });
    assert.deepEqual(await another.usage(`${id}-none`, MONTH, NOW_MS), { searches: 0, verifications: 0 });
  });
}

function chargeOf(account: string, request: string): Charge {
  return { account, kind: "searches", month: MONTH, request };
}
