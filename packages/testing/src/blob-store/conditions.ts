import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isServiceError } from "@outrigger/core";
import type { BlobInfo, BlobStore } from "@outrigger/core/stores";
import {
  assertBytes,
  assertRejects,
  type BlobStoreScope,
  bytesAt,
  readAll,
  someBytes,
  winnerOf,
} from "./scope.ts";

const RACERS = 20;
const WORKERS = 8;
const INCREMENTS = 10;

/** Conditional writes, above all when many of them race. */
export function conditionsBehaviour({ test }: BlobStoreScope): void {
  test("of many simultaneous puts with ifRevision null, exactly one creates the blob", async (store, key) => {
    await oneWinner(store, key, null);
  });

  test("of many simultaneous puts with the current revision, exactly one replaces the blob", async (store, key) => {
    for (let turn = 0; turn < 3; turn++) {
      const { revision } = await store.put(key, someBytes(10));
      await oneWinner(store, key, revision);
    }
  });

  test("of many simultaneous puts with ifRevision null after a delete, exactly one creates the blob again", async (store, key) => {
    for (let turn = 0; turn < 5; turn++) {
      for (let version = 0; version <= turn; version++) await store.put(key, someBytes(10));
      await store.delete(key);
      await oneWinner(store, key, null);
    }
  });

  test("put with another revision rejects with conflict and changes nothing", async (store, key) => {
    await assertRejects(() => store.put(key, someBytes(10), { ifRevision: "1" }), "conflict");
    assert.equal(await store.stat(key), null);
    const first = await store.put(key, someBytes(10), { ifRevision: null });
    const bytes = someBytes(20);
    const second = await store.put(key, bytes, { ifRevision: first.revision });
    for (const ifRevision of [null, first.revision, "", "0", `${second.revision}0`, `${second.revision} `]) {
      await assertRejects(() => store.put(key, someBytes(10), { ifRevision }), "conflict", `${ifRevision}`);
    }
    assert.equal((await store.stat(key))?.revision, second.revision);
    await assertBytes(store, key, bytes);
  });

  test("a put with the revision of a deleted blob rejects, also after the same bytes were stored again", async (store, key) => {
    const gone = new Set<string>();
    for (let turn = 0; turn < 20; turn++) {
      const { revision } = await store.put(key, Buffer.from("the same each time"), { ifRevision: null });
      for (const ifRevision of gone) {
        await assertRejects(() => store.put(key, someBytes(1), { ifRevision }), "conflict");
      }
      gone.add(revision);
      assert.equal(await store.delete(key), true);
      await assertRejects(() => store.put(key, someBytes(1), { ifRevision: revision }), "conflict");
    }
    assert.equal(gone.size, 20);
    assert.equal(await store.stat(key), null);
  });

  test("concurrent compare-and-set increments lose no increment", async (store, key) => {
    await store.put(key, Buffer.from("0"));
    await Promise.all(
      Array.from({ length: WORKERS }, async () => {
        for (let done = 0; done < INCREMENTS; done++) await increment(store, key);
      }),
    );
    assert.equal(String(await bytesAt(store, key)), String(WORKERS * INCREMENTS));
  });

  test("every acknowledged create and delete counts when they race with each other and with writers", async (store, key) => {
    let creates = 0;
    let deletes = 0;
    const succeeded = new Set<string>();
    let isDeleting = true;
    async function create(): Promise<void> {
      while (isDeleting) {
        if (await won(store.put(key, someBytes(100), { ifRevision: null }))) creates++;
        await nextTurn();
      }
    }
    async function change(): Promise<void> {
      while (isDeleting) {
        const revision = (await store.stat(key))?.revision;
        if (revision !== undefined && (await won(store.put(key, someBytes(100), { ifRevision: revision })))) {
          assert.ok(!succeeded.has(revision), "two writes replaced the same revision");
          succeeded.add(revision);
        }
        await nextTurn();
      }
    }
    const workers = [create(), create(), change(), change(), change()];
    try {
      // One deleter: if a backend must read before it deletes, two deleters may both have seen the blob.
      while (deletes < 40) {
        if (await store.delete(key)) deletes++;
        await nextTurn();
      }
    } finally {
      isDeleting = false;
    }
    await Promise.all(workers);
    const isThere = (await store.stat(key)) !== null;
    assert.equal(creates - deletes, isThere ? 1 : 0);

    // The key is still usable after the race.
    const bytes = someBytes(50);
    await store.put(key, bytes);
    await assertBytes(store, key, bytes);
    assert.equal(await store.delete(key), true);
    assert.equal(await store.get(key), null);
    assert.deepEqual((await store.list(`${key}/`)).keys, []);
    const last = await store.put(key, bytes, { ifRevision: null });
    await store.put(key, bytes, { ifRevision: last.revision });
  });

  test("an unconditional put that races with deletes leaves its own bytes or no blob", async (store, key) => {
    for (let turn = 0; turn < 30; turn++) {
      await store.put(key, Buffer.from("old"));
      const bytes = Buffer.from(`new ${turn}`);
      const [, wasDeleted] = await Promise.all([store.put(key, bytes), store.delete(key)]);
      const after = await bytesAt(store, key);
      assert.equal(wasDeleted, true);
      // Deleted before or after the write, but the old bytes are gone.
      assert.ok(after === null || after.equals(bytes), `turn ${turn}: ${after}`);
      await store.put(key, bytes);
      await assertBytes(store, key, bytes);
    }
  });
}

/**
 * Races for one conditional write: exactly one wins, the others reject, and the winner's bytes are stored.
 */
async function oneWinner(store: BlobStore, key: string, ifRevision: string | null): Promise<void> {
  const bodies = Array.from({ length: RACERS }, (_, racer) => Buffer.from(`racer ${racer}`));
  const results = await Promise.allSettled(bodies.map((body) => store.put(key, body, { ifRevision })));
  await assertBytes(store, key, bodies[winnerOf(results)] ?? assert.fail());
}

/** Whether a conditional write succeeded. */
async function won(write: Promise<BlobInfo>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (isServiceError(error, "conflict")) return false;
    throw error;
  }
}

/** Increments the number in a blob by compare-and-set. */
async function increment(store: BlobStore, key: string): Promise<void> {
  for (;;) {
    const blob = await store.get(key);
    assert.ok(blob !== null, "the blob is gone");
    const next = Number(String(await readAll(blob.body))) + 1;
    if (await won(store.put(key, Buffer.from(String(next)), { ifRevision: blob.revision }))) return;
  }
}
