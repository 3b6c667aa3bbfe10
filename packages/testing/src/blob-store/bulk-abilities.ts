import assert from "node:assert/strict";
import { hasBulkRemoval, hasRangeListing, type KeyRange, type RangeListing } from "@outrigger/core/stores";
import { assertBytes, assertRejects, type BlobStoreScope, readKeys, someBytes, storeAll } from "./scope.ts";

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

/** The ability to list ranges of keys. */
export function rangesBehaviour({ test, listedKeys }: BlobStoreScope): void {
  const BOUNDS = ["", "0", "Zz", "a/", "a/record", "a0"];

  test("listRange returns the keys of each range and no others, page by page in order", async (store, key) => {
    assert.ok(hasRangeListing(store));
    const first = key.split("/")[0] ?? key;
    // The first characters of image IDs; short and odd keys lie on the bounds.
    const heads = "- -- 0 00 3- 3. 3a 9 A Z Zz _ a a- a0 q z zz".split(" ");
    const keys = heads.flatMap((head) => [`${head}${first}/record`, `${head}${first}/renditions/a.webp`]);
    const short = ["a", "a/record", "a-/record", "3-", "zz/b"];
    for (const one of [...keys, ...short]) await store.put(one, Buffer.from("x"));
    const known = new Set([...keys, ...short]);
    for (const [at, after] of BOUNDS.entries()) {
      for (const upTo of [...BOUNDS.slice(at + 1), undefined]) {
        const expected = [...known].filter((one) => one > after && (upTo === undefined || one <= upTo));
        const range = { after, ...(upTo === undefined ? {} : { upTo }) };
        const found: string[] = (await listedRange(store, range, 15)).filter((one) => known.has(one));
        assert.deepEqual(found.sort(), expected.sort(), JSON.stringify(range));
      }
    }
    for (const one of short) await store.delete(one);
  });

  test("ranges that meet hold every key exactly once", async (store, key) => {
    assert.ok(hasRangeListing(store));
    const keys = Array.from({ length: listedKeys }, (_, at) => `${"-0AZ_az"[at % 7]}${at % 10}${key}/${at}`);
    await storeAll(store, keys);
    const bounds = ["", "0", "05", "A5", "a", undefined];
    const found: string[][] = await Promise.all(
      bounds.slice(1).map((upTo, at) => {
        const after = bounds[at] ?? "";
        return listedRange(store, { after, ...(upTo === undefined ? {} : { upTo }) }, 100);
      }),
    );
    const ours = found.flat().filter((one) => one.includes(key));
    assert.deepEqual(ours.sort(), keys.sort());
  });

  test("listRange rejects bounds and limits that no key and no page have with bad_request", async (store) => {
    assert.ok(hasRangeListing(store));
    for (const range of [{ after: "a b" }, { upTo: "\0" }, { after: "é" }, { upTo: "a'--" }]) {
      await assertRejects(() => store.listRange(range), "bad_request", JSON.stringify(range));
    }
    await assertRejects(() => store.listRange({}, { limit: 0 }), "bad_request");
    await assertRejects(() => store.listRange({}, { limit: 1001 }), "bad_request");
  });
}

/** All keys of a range. Verifies that their first characters never descend. */
async function listedRange(store: RangeListing, range: KeyRange, limit: number): Promise<string[]> {
  const keys = await readKeys(limit, (page) => store.listRange(range, page));
  const heads = keys.map((one) => one.charAt(0));
  for (const [at, head] of heads.entries())
    assert.ok(head >= (heads[at - 1] ?? ""), `${keys[at - 1]}, ${keys[at]}`);
  return keys;
}
