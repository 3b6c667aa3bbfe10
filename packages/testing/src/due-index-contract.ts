import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { type BlobStore, createDueList, type DueEntry, MAX_DUE_MS } from "@outrigger/core/stores";
import { assertRejects, failure } from "./blob-store/scope.ts";
import type { ConformanceTest } from "./conformance-test.ts";
import { assertRecognised } from "./foreign-copy.ts";
import { closedBehaviour, pairTest } from "./pair.ts";

export interface DueIndexContractOptions {
  /** Number of entries in the longest list, at least 1000. @default 5000 */
  entries?: number;
  /** Opens a new store on the backend of a closed one. @default none: the data does not outlive the store */
  reopen?: (store: BlobStore) => Promise<BlobStore>;
}

type DueList = ReturnType<typeof createDueList>;
type DueIndexTest = (
  name: string,
  body: (list: DueList, store: BlobStore, listName: string) => Promise<void>,
) => void;

const FOREVER_MS = Number.POSITIVE_INFINITY;
const HOUR_MS = 3_600_000;
/** A time in the past, at the beginning of an hour. */
const BASE_MS = 1_700_000_000_000 - (1_700_000_000_000 % HOUR_MS);

/**
 * Tests that a store fulfils the {@link DueIndex} contract, or for a store without one that of its
 * replacement made of blobs.
 *
 * @param test The `test` or `it` of any runner, whose time limit should be at least 30 s.
 * @param create Creates a store. Several may share one backend that already holds data: every case uses its
 * own lists.
 */
export function dueIndexContract(
  test: ConformanceTest,
  create: () => Promise<BlobStore>,
  options: DueIndexContractOptions = {},
): void {
  const pairs = pairTest(test, "due index", create);
  const it: DueIndexTest = (name, body) =>
    pairs(name, ({ one }) => {
      const listName = randomLetters(16);
      return body(createDueList(one, listName), one, listName);
    });
  orderBehaviour(it);
  changeBehaviour(it);
  namesBehaviour(it);
  amountBehaviour(it, options.entries ?? 5000);
  lifeBehaviour(it, options.reopen);
  closedBehaviour(
    pairs,
    async ({ one }) => one,
    ({ one }) => {
      const entry = { id: "x", dueMs: BASE_MS };
      const list = createDueList(one, randomLetters(16));
      return {
        add: () => list.add(entry),
        remove: () => list.remove(entry),
        due: () => list.due(FOREVER_MS, 10),
      };
    },
  );
}

function orderBehaviour(it: DueIndexTest): void {
  it("listDue returns due entries, oldest first", async (list) => {
    // Some in one hour, some days and years apart, added in no particular order.
    const times = [50, 0, 49, 1, HOUR_MS, HOUR_MS - 1, 24 * HOUR_MS, 35 * HOUR_MS, 9000 * HOUR_MS];
    const entries = times.map((ms, index) => ({ id: `id-${index}`, dueMs: BASE_MS + ms }));
    for (const entry of entries) await list.add(entry);
    const inOrder = entries.toSorted((a, b) => a.dueMs - b.dueMs);
    assert.deepEqual(await list.due(FOREVER_MS, 1000), inOrder);
    assert.deepEqual(await list.due(BASE_MS + HOUR_MS, 1000), inOrder.slice(0, 6));
    assert.deepEqual(await list.due(0, 1000), []);
  });

  it("an entry is due at exactly its time, and not a millisecond before", async (list) => {
    for (const dueMs of [BASE_MS - 1, BASE_MS, BASE_MS + 1]) await list.add({ id: "x", dueMs });
    const timesAt = async (untilMs: number) => (await list.due(untilMs, 10)).map(({ dueMs }) => dueMs);
    assert.deepEqual(await timesAt(BASE_MS - 2), []);
    assert.deepEqual(await timesAt(BASE_MS - 1), [BASE_MS - 1]);
    assert.deepEqual(await timesAt(BASE_MS), [BASE_MS - 1, BASE_MS]);
    assert.deepEqual(await timesAt(BASE_MS + 1), [BASE_MS - 1, BASE_MS, BASE_MS + 1]);
  });

  it("listDue returns at most limit entries, and those are the oldest", async (list) => {
    const entries = entriesOf(12, HOUR_MS / 4);
    await Promise.all(entries.map((entry) => list.add(entry)));
    for (const limit of [1, 2, 4, 5, 11, 12, 13]) {
      assert.deepEqual(await list.due(FOREVER_MS, limit), entries.slice(0, limit));
    }
  });

  it("an entry can have any time from 0 to MAX_DUE_MS", async (list) => {
    const times = [0, 1, HOUR_MS, 36 ** 8, MAX_DUE_MS - 1, MAX_DUE_MS];
    for (const dueMs of times.toReversed()) await list.add({ id: "x", dueMs });
    assert.deepEqual(
      (await list.due(FOREVER_MS, 10)).map(({ dueMs }) => dueMs),
      times,
    );
    assert.deepEqual(await list.due(0, 10), [{ id: "x", dueMs: 0 }]);
    assert.equal((await list.due(Number.MAX_SAFE_INTEGER, 10)).length, times.length);
    for (const dueMs of times) await list.remove({ id: "x", dueMs });
    assert.deepEqual(await list.due(FOREVER_MS, 10), []);
  });
}

function changeBehaviour(it: DueIndexTest): void {
  it("an entry is listed once, however often it is added, until it is removed", async (list) => {
    const entry = { id: "x", dueMs: BASE_MS };
    await list.remove(entry);
    for (let turn = 0; turn < 3; turn++) {
      await list.add(entry);
      await list.add(entry);
      await Promise.all([list.add(entry), list.add(entry)]);
      assert.deepEqual(await list.due(FOREVER_MS, 10), [entry]);
      await list.remove(entry);
      assert.deepEqual(await list.due(FOREVER_MS, 10), []);
      await list.remove(entry);
    }
  });

  it("an ID can be in a list at several times, each added and removed separately", async (list) => {
    const entries = [0, 1, HOUR_MS, 50 * HOUR_MS].map((ms) => ({ id: "x", dueMs: BASE_MS + ms }));
    for (const entry of entries) await list.add(entry);
    assert.deepEqual(await list.due(FOREVER_MS, 10), entries);
    await list.remove({ id: "x", dueMs: BASE_MS + 1 });
    await list.remove({ id: "x", dueMs: BASE_MS + 2 });
    assert.deepEqual(
      await list.due(FOREVER_MS, 10),
      entries.filter(({ dueMs }) => dueMs !== BASE_MS + 1),
    );
  });

  it("simultaneous additions and removals in one hour lose no entry", async (list) => {
    const entries = entriesOf(120, 1);
    // One third stays, one third is removed, and one third is removed and added again.
    const work = entries.map(async (entry, index) => {
      await list.add(entry);
      if (index % 3 > 0) await list.remove(entry);
      if (index % 3 > 1) await list.add(entry);
    });
    await Promise.all(work);
    assert.deepEqual(
      await list.due(FOREVER_MS, 1000),
      entries.filter((_, index) => index % 3 !== 1),
    );
  });

  it("listDue never misses an entry that exists throughout, while others are added and removed", async (list) => {
    const staying = { id: "staying", dueMs: BASE_MS + 5 };
    await list.add(staying);
    let isOver = false;
    const comeAndGo = async (id: string) => {
      for (let turn = 0; turn < 20; turn++) {
        await list.add({ id, dueMs: BASE_MS + turn });
        await list.remove({ id, dueMs: BASE_MS + turn });
      }
    };
    const busy = Promise.all(["a", "b", "c", "d"].map(comeAndGo)).finally(() => {
      isOver = true;
    });
    while (!isOver) assert.ok((await list.due(FOREVER_MS, 1000)).some(({ id }) => id === staying.id));
    await busy;
    assert.deepEqual(await list.due(FOREVER_MS, 1000), [staying]);
  });
}

function namesBehaviour(it: DueIndexTest): void {
  it("IDs of every valid form can be added", async (list) => {
    const ids = ["-", "_", "--", "-_-", "a", "A", "0", "a-b_c", "z".repeat(64), "-".repeat(64)];
    const entries = ids.map((id, index) => ({ id, dueMs: BASE_MS + index }));
    for (const entry of entries) await list.add(entry);
    assert.deepEqual(await list.due(FOREVER_MS, 100), entries);
    for (const entry of entries) await list.remove(entry);
    assert.deepEqual(await list.due(FOREVER_MS, 100), []);
  });

  it("lists are separate, even if one name is part of another", async (list, store, listName) => {
    const others = [`${listName}s`, listName.slice(1)].map((name) => createDueList(store, name));
    const entry = { id: "x", dueMs: BASE_MS };
    await list.add(entry);
    for (const other of others) {
      assert.deepEqual(await other.due(FOREVER_MS, 10), []);
      await other.remove(entry);
      await other.add({ id: "other", dueMs: BASE_MS });
    }
    assert.deepEqual(await list.due(FOREVER_MS, 10), [entry]);
  });

  it("invalid list names, entries and queries are rejected with bad_request", async (list, store) => {
    const entry = { id: "x", dueMs: BASE_MS };
    for (const name of ["", "A", "a1", "a-b", "..", "a/b", "a.b", "é", "a\n", "a".repeat(21)]) {
      const other = createDueList(store, name);
      const hint = JSON.stringify(name);
      await assertRejects(() => other.add(entry), "bad_request", hint);
      await assertRejects(() => other.remove(entry), "bad_request", hint);
      await assertRejects(() => other.due(FOREVER_MS, 10), "bad_request", hint);
    }
    const ids = ["", ".", "..", "a/b", "a.b", "é", "a b", "a\n", "a\0", "a".repeat(65)];
    const times = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, MAX_DUE_MS + 1];
    const entries = [...ids.map((id) => ({ ...entry, id })), ...times.map((dueMs) => ({ ...entry, dueMs }))];
    for (const wrong of entries) {
      await assertRejects(() => list.add(wrong), "bad_request", JSON.stringify(wrong));
      await assertRejects(() => list.remove(wrong), "bad_request", JSON.stringify(wrong));
    }
    for (const limit of [0, -1, 1.5, 1001, Number.NaN]) {
      await assertRejects(() => list.due(BASE_MS, limit), "bad_request", `limit ${limit}`);
    }
    for (const untilMs of [-1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY]) {
      await assertRejects(() => list.due(untilMs, 10), "bad_request", `until ${untilMs}`);
    }
    assert.deepEqual(await list.due(FOREVER_MS, 10), []);
  });
}

function amountBehaviour(it: DueIndexTest, amount: number): void {
  it(`${amount} entries are listed in order until all are removed`, async (list) => {
    // Spread over two days: many entries in some hours, and no two at the same time.
    const stepMs = Math.floor((48 * HOUR_MS) / amount);
    const entries = entriesOf(amount, stepMs);
    await inParallel(shuffled(entries), (entry) => list.add(entry));
    const left = entries.slice();
    while (left.length > 0) {
      const due = await list.due(FOREVER_MS, 1000);
      assert.deepEqual(due, left.splice(0, 1000));
      await inParallel(due, (entry) => list.remove(entry));
    }
    assert.deepEqual(await list.due(FOREVER_MS, 1000), []);
  });
}

function lifeBehaviour(it: DueIndexTest, reopen: DueIndexContractOptions["reopen"]): void {
  it("addDue with an aborted signal adds nothing and rejects with the signal's reason", async (list) => {
    const reason = new Error("not wanted");
    const signal = AbortSignal.abort(reason);
    assert.equal(await failure(() => list.add({ id: "x", dueMs: BASE_MS }, signal)), reason);
    assert.deepEqual(await list.due(FOREVER_MS, 10), []);
    await list.add({ id: "y", dueMs: BASE_MS }, new AbortController().signal);
    assert.deepEqual(await list.due(FOREVER_MS, 10), [{ id: "y", dueMs: BASE_MS }]);
  });

  it("failures are errors that another copy of core recognises", (list) =>
    assertRecognised(() => list.due(BASE_MS, 0), "bad_request"));

  if (reopen === undefined) return;
  it("all entries are still there after the store is closed and opened again", async (list, store, listName) => {
    const entries = entriesOf(50, 1);
    await Promise.all(entries.map((entry) => list.add(entry)));
    await list.remove({ id: "id-0", dueMs: BASE_MS });
    await store.close();
    const again = await reopen(store);
    try {
      assert.deepEqual(await createDueList(again, listName).due(FOREVER_MS, 1000), entries.slice(1));
    } finally {
      await again.close();
    }
  });
}

/** Entries with different IDs, in the order of their times. */
function entriesOf(count: number, stepMs: number): DueEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `id-${index}`,
    dueMs: BASE_MS + index * stepMs,
  }));
}

/** Runs a limited number of calls at a time. */
async function inParallel(entries: readonly DueEntry[], work: (entry: DueEntry) => Promise<void>) {
  const waiting = entries.values();
  const drain = async () => {
    for (const entry of waiting) await work(entry);
  };
  await Promise.all(Array.from({ length: 32 }, drain));
}

/** Shuffled, in the same order in every run. */
function shuffled(entries: readonly DueEntry[]): DueEntry[] {
  const rank = ({ dueMs }: DueEntry) => (dueMs * 7919) % 104_729;
  return entries.toSorted((a, b) => rank(a) - rank(b));
}

function randomLetters(count: number): string {
  return Array.from({ length: count }, () => String.fromCharCode(97 + randomInt(26))).join("");
}
