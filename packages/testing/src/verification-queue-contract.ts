import assert from "node:assert/strict";
import type { VerificationQueue } from "@outrigger/core/lookup";
import type { ConformanceTest } from "./conformance-test.ts";
import { callBoth, closedBehaviour, type PairTest, pairTest } from "./pair.ts";
import { endingBehaviour } from "./verification-queue/ending.ts";
import { LEASE_MS, listOf, NOW, rowOf, rowsOf, takeAll } from "./verification-queue/samples.ts";
import { takingBehaviour } from "./verification-queue/taking.ts";

export interface VerificationQueueContractOptions {
  /** Opens a queue on the same data, as another process would. @default the same object */
  openAnother?: (queue: VerificationQueue) => Promise<VerificationQueue>;
}

/**
 * Tests that a queue fulfils the {@link VerificationQueue} contract.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a queue. Several may share one backend if no other process uses it meanwhile: every
 * case deletes all lists.
 */
export function verificationQueueContract(
  test: ConformanceTest,
  create: () => Promise<VerificationQueue>,
  options: VerificationQueueContractOptions = {},
): void {
  const it = pairTest(
    test,
    "verification queue",
    async () => {
      const queue = await create();
      await queue.removeBefore(Number.MAX_SAFE_INTEGER);
      return queue;
    },
    options.openAnother,
  );
  listBehaviour(it);
  takingBehaviour(it);
  erasureBehaviour(it);
  endingBehaviour(it);

  closedBehaviour(
    it,
    async ({ one }) => one,
    ({ one, id }) => {
      const row = { list: id, position: 0 };
      return {
        add: () => one.add(listOf(id), rowsOf(1), null),
        addSingle: () => one.addSingle(listOf(id), rowOf("ada@example.com")),
        get: () => one.get(id),
        rows: () => one.rows(id, { offset: 0, limit: 1 }),
        take: () => one.take(1, LEASE_MS, NOW),
        finish: () => one.finish([{ ...row, result: "{}" }]),
        postpone: () => one.postpone(row, NOW, false),
        erase: () => one.erase("example.com", "{}"),
        takeEnds: () => one.takeEnds(1, LEASE_MS, NOW),
        settleEnd: () =>
          one.settleEnd({ list: id, leaseUntilMs: NOW }, { state: "", dueMs: null, isDead: false }),
        countEnds: () => one.countEnds(),
        removeBefore: () => one.removeBefore(NOW),
      };
    },
  );
}

function listBehaviour(it: PairTest<VerificationQueue>): void {
  it("a list is stored with its rows in order, every field unchanged", async ({ one, another, id }) => {
    const list = { ...listOf(id), header: ["Näme", "email", "=1+1"] };
    const rows = [
      rowOf("Ada@example.com", ["O'Lee, “A” \\", "Ada@example.com", ""]),
      { email: "no address\n", subject: null, columns: ["", "no address\n", "x"], result: null },
      rowOf("ada@example.com", ["", "ada@example.com", "{}"]),
    ];
    assert.equal(await another.get(id), null);
    assert.equal(await one.add(list, rows, null), true);
    assert.deepEqual(await another.get(id), { ...list, total: 3, done: 0, isStarted: false });
    assert.deepEqual(await another.rows(id, { offset: 0, limit: 1000 }), rows);
    assert.equal(await another.get(id.toUpperCase()), null);
  });

  it("a row that has a result when it is added is done, and is never taken", async ({ one, another, id }) => {
    const done = { email: "", subject: null, columns: null, result: '{"a":1}' };
    await one.add(listOf(id), [done, rowOf("ada@example.com"), done], null);
    assert.deepEqual(await another.get(id), { ...listOf(id), total: 3, done: 2, isStarted: false });
    assert.deepEqual((await another.rows(id, { offset: 0, limit: 10 }))[0], done);
    assert.deepEqual(
      (await takeAll(one, NOW)).map(({ position }) => position),
      [1],
    );
  });

  it("rows returns the page of a list", async ({ one, id }) => {
    await one.add(listOf(id), rowsOf(2500), null);
    await one.add(listOf(`${id}-2`), rowsOf(10), null);
    const emails = async (offset: number, limit: number) =>
      (await one.rows(id, { offset, limit })).map(({ email }) => email);
    assert.deepEqual(await emails(1000, 2), ["p1000@example.com", "p1001@example.com"]);
    assert.equal((await emails(0, 1000)).length, 1000);
    assert.deepEqual(await emails(2499, 5), ["p2499@example.com"]);
    assert.deepEqual(await emails(2500, 5), []);
  });

  it("a list is not added if the account's lists would count more bytes than allowed", async (pair) => {
    const { one, another, id } = pair;
    const add = (list: string, bytes: number, account = id) =>
      one.add(listOf(`${id}-${list}`, account), rowsOf(1), null, { bytes, maxBytes: 1000 });
    assert.equal(await add("1", 600), true);
    assert.equal(await add("2", 401), false);
    assert.equal(await another.get(`${id}-2`), null);
    assert.equal(await add("3", 401, `${id}-other`), true);
    assert.equal(await add("4", 400), true);
    assert.equal(await add("5", 1), false);
    assert.equal(await another.add(listOf(`${id}-6`, id), rowsOf(1), 9), true);
  });

  it("a list is not added if the account's lists would have more rows than allowed", async (pair) => {
    const { one, another, id } = pair;
    assert.equal(await one.add(listOf(`${id}-1`, id), rowsOf(6), 10), true);
    assert.equal(await another.add(listOf(`${id}-2`, id), rowsOf(5), 10), false);
    assert.equal(await another.get(`${id}-2`), null);
    assert.equal((await takeAll(one, NOW)).length, 6);
    assert.equal(await another.add(listOf(`${id}-3`, id), rowsOf(4), 10), true);
    assert.equal(await another.add(listOf(`${id}-4`), rowsOf(10), 10), true);
  });

  it("finish keeps the first result of a row and counts it once", async ({ one, another, id }) => {
    await one.add(listOf(id), rowsOf(3), null);
    await one.take(3, LEASE_MS, NOW);
    const result = (position: number, text: string) => ({ list: id, position, result: text });
    assert.equal(await one.finish([result(0, "first"), result(2, "zwei “2”")]), 2);
    assert.equal(await another.finish([result(0, "second"), result(1, "one"), result(9, "none")]), 1);
    assert.equal(await another.finish([{ ...result(0, "x"), list: `${id}-none` }]), 0);
    assert.equal(await another.finish([]), 0);
    const results = (await one.rows(id, { offset: 0, limit: 10 })).map((row) => row.result);
    assert.deepEqual(results, ["first", "one", "zwei “2”"]);
    assert.equal((await one.get(id))?.done, 3);
  });

  it("finish erases a row on demand, and only this one", async ({ one, another, id }) => {
    await one.add(listOf(id), [rowOf("ada@example.com", ["a"]), rowOf("ada@example.com", ["b"])], null);
    await one.take(2, LEASE_MS, NOW);
    assert.equal(await another.finish([{ list: id, position: 0, result: "{}", isErased: true }]), 1);
    assert.equal(await another.finish([{ list: id, position: 1, result: "kept" }]), 1);
    assert.deepEqual(await one.rows(id, { offset: 0, limit: 10 }), [
      { email: "", subject: null, columns: null, result: "{}" },
      { ...rowOf("ada@example.com", ["b"]), result: "kept" },
    ]);
    assert.equal(await one.erase("ada@example.com", "{}"), 1);
  });

  it("of many simultaneous finish calls for one row, exactly one counts", async (pair) => {
    const { one, id } = pair;
    await one.add(listOf(id), rowsOf(1), null);
    const counts = await callBoth(pair, 10, (queue, index) =>
      queue.finish([{ list: id, position: 0, result: String(index) }]),
    );
    assert.deepEqual(counts.toSorted(), [...Array(9).fill(0), 1]);
    assert.equal((await one.get(id))?.done, 1);
  });

  it("removeBefore deletes older lists with their rows", async ({ one, another, id }) => {
    await one.add(listOf(id), rowsOf(20), null);
    await one.add({ ...listOf(`${id}-new`), createdAt: NOW + 1 }, rowsOf(2), null);
    assert.equal(await another.removeBefore(NOW), 0);
    assert.equal(await another.removeBefore(NOW + 1), 1);
    assert.equal(await one.get(id), null);
    assert.deepEqual(await one.rows(id, { offset: 0, limit: 10 }), []);
    assert.equal((await takeAll(one, NOW + 1)).length, 2);
  });
}

function erasureBehaviour(it: PairTest<VerificationQueue>): void {
  const emails = [
    "ada@example.com",
    "Ada@Example.com",
    "bob@example.com",
    "ada@mail.example.com",
    "ada@notexample.com",
    "ada@example.com.org",
  ];
  const rows = emails.map((email) => rowOf(email, [email, "note"]));
  const erased = { email: "", subject: null, columns: null, result: "gone" };

  it("erase empties the rows of an address and finishes them", async ({ one, another, id }) => {
    await one.add(listOf(id), rows, null);
    await one.finish([{ list: id, position: 1, result: "done" }]);
    assert.equal(await another.erase("ada@example.com", "gone"), 2);
    assert.deepEqual(await one.rows(id, { offset: 0, limit: 10 }), [erased, erased, ...rows.slice(2)]);
    assert.equal((await one.get(id))?.done, 2);
    assert.equal((await takeAll(one, NOW)).length, 4);
    assert.equal(await another.erase("ada@example.com", "gone"), 0);
  });

  it("erase of a domain covers its subdomains and no other domain", async ({ one, another, id }) => {
    await one.add(listOf(id), rows, null);
    assert.equal(await another.erase("example.com", "gone"), 4);
    const left = (await one.rows(id, { offset: 0, limit: 10 })).flatMap(({ email }) => email || []);
    assert.deepEqual(left, emails.slice(4));
    assert.equal((await one.get(id))?.done, 4);
  });

  it("erase deletes single rows", async ({ one, another, id }) => {
    await one.addSingle(listOf(id), rowOf("ada@example.com"));
    assert.equal(await another.erase("ada@example.com", "gone"), 1);
    assert.deepEqual(await one.take(1, LEASE_MS, NOW), { rows: [], nextDueMs: null });
  });
}
