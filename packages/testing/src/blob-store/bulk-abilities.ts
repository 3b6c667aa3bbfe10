import assert from "node:assert/strict";
import { hasBulkRemoval } from "@outrigger/core/stores";
import { assertBytes, assertRejects, type BlobStoreScope, someBytes } from "./scope.ts";

/** The ability to delete many blobs at once. */
export function bulkRemovalBehaviour({ test }: BlobStoreScope): void {
  test("removeNamed deletes the named blobs and all blobs below them, and no others", async (store, key) => {
    assert.ok(hasBulkRemoval(store));
    const kept = ["c", "ab", "c/a", "a-b"];
    for (const name of ["a", "a/x", "a/y/z", "b/x", ...kept]) {
      await store.put(`${key}/${name}`, Buffer.from(name));
    }
    await store.removeNamed(`${key}/`, ["a", "b", "missing"]);
    assert.deepEqual((await store.list(`${key}/`)).keys.sort(), kept.map((name) => `${key}/${name}`).sort());
    for (const name of kept) await assertBytes(store, `${key}/${name}`, Buffer.from(name));
    assert.equal(await store.get(`${key}/a/y/z`), null);
    await store.removeNamed(`${key}/`, ["a", "b", "missing"]);
    await store.put(`${key}/a`, someBytes(10), { ifRevision: null });
    await store.removeNamed(`${key}/`, ["a", "ab", "a-b", "c"]);
    assert.deepEqual((await store.list(`${key}/`)).keys, []);
  });

  test("removeNamed rejects names that are not key segments", async (store, key) => {
    assert.ok(hasBulkRemoval(store));
    for (const name of ["", ".", "..", "a b", "a@"]) {
      await assertRejects(() => store.removeNamed(`${key}/`, [name]), "bad_request", name);
    }
  });

  test("a blob written during removeNamed is complete or absent afterwards", async (store, key) => {
    assert.ok(hasBulkRemoval(store));
    const bytes = someBytes(1000);
    for (let round = 0; round < 10; round++) {
      const puts = ["a/x", "a/y", "b"].map((name) => store.put(`${key}/${name}`, bytes));
      await Promise.all([...puts, store.removeNamed(`${key}/`, ["a", "b"])]);
      for (const found of (await store.list(`${key}/`)).keys) await assertBytes(store, found, bytes);
    }
    await store.removeNamed(`${key}/`, ["a", "b"]);
    assert.deepEqual((await store.list(`${key}/`)).keys, []);
  });
}
