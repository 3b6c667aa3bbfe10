import assert from "node:assert/strict";
import { type BlobStore, hasRevisionProbe, isLocalStore } from "@outrigger/core/stores";
import { assertBytes, assertRejects, type BlobStoreScope, readKeys, someBytes, storeAll } from "./scope.ts";

const LONGEST_SEGMENT = "s".repeat(100);

/** Invalid keys, most of them attempts to leave a directory. */
const HOSTILE_KEYS = Object.values({
  slashes: ["", "/", "/x", "x/", "a//b", "1/2/3/4/5/6/7/8/9"],
  dots: [".", "..", "../x", "x/..", "x/../y", "x/./y", ".hidden", "a/.b"],
  control: ["nul\0", "a/\0/b", "line\n", "\nline", "a\r"],
  tooLong: [`${LONGEST_SEGMENT}s`],
  otherSystems: ["a\\b", "..\\x", "C:x", "%2e%2e/x", "a%00"],
  punctuation: ["a@1", "a@", "a*", "a?", "{a}", "a:b", "a,b", "a+b", "~", "$x", " ", "a b"],
  notAscii: ["é", "e\u0301", "\u202e", "😀", "\ud800"],
}).flat();

const HOSTILE_PREFIXES = [
  "a",
  "/",
  "//",
  "../",
  "./",
  "a/../",
  "a//",
  ".hidden/",
  "a\0/",
  "a\\b/",
  " /",
  "a@1/",
  "é/",
];

/** The grammar of keys, and listing. */
export function keysBehaviour({ test, listedKeys }: BlobStoreScope): void {
  test("every method rejects an invalid key with bad_request", async (store) => {
    const body = someBytes(10);
    for (const key of HOSTILE_KEYS) {
      const hint = JSON.stringify(key);
      const calls: Record<string, () => Promise<unknown>> = {
        put: () => store.put(key, body),
        create: () => store.put(key, body, { ifRevision: null }),
        get: () => store.get(key),
        range: () => store.get(key, { range: { start: 0, end: 1 } }),
        stat: () => store.stat(key),
        delete: () => store.delete(key),
        ...(isLocalStore(store) && { adopt: () => store.adopt(key, "x"), path: () => store.localPath(key) }),
      };
      for (const [name, call] of Object.entries(calls)) {
        await assertRejects(call, "bad_request", `${name} ${hint}`);
      }
      if (hasRevisionProbe(store)) assert.equal(store.isCurrent(key, "1"), false);
    }
    for (const prefix of HOSTILE_PREFIXES) {
      await assertRejects(() => store.list(prefix), "bad_request", `list ${JSON.stringify(prefix)}`);
    }
  });

  test("every valid key can be stored, and similar keys stay separate", async (store, key) => {
    const dotted = ["a.b", "a.", "a..", "a.b.tmp"];
    const names = ["a", "A", "-", "_", ...dotted, "0", "1", "01", "con", "a-", "a_", "__proto__"];
    const keys = names.flatMap((name) => [`${key}/${name}`, `${key}/${name}/${name}`]);
    keys.push(
      `${key}/${LONGEST_SEGMENT}`,
      `${key}/2/3/4/5/6/7/8`,
      `${key}/${`${LONGEST_SEGMENT}/`.repeat(6)}x`,
    );
    for (const one of keys) await store.put(one, Buffer.from(one), { ifRevision: null });
    for (const one of keys) await assertBytes(store, one, Buffer.from(one));
    assert.deepEqual(await listed(store, `${key}/`, 7), new Set(keys));
    for (const one of keys) assert.equal(await store.delete(one), true);
    assert.deepEqual(await listed(store, `${key}/`, 7), new Set());
  });

  test("list returns many keys page by page, each once", async (store, key) => {
    const keys = Array.from({ length: listedKeys }, (_, index) => `${key}/${index % 7}/${index}`);
    await storeAll(store, keys);
    assert.deepEqual(await listed(store, `${key}/`, 100), new Set(keys));
    assert.deepEqual(await listed(store, `${key}/`, 1000), new Set(keys));
    const third = keys.filter((one) => one.startsWith(`${key}/3/`));
    assert.deepEqual(await listed(store, `${key}/3/`, 10), new Set(third));
    const all = await listed(store, "", 1000);
    assert.ok(keys.every((one) => all.has(one)));
  });

  test("list returns the keys below a prefix and no others", async (store, key) => {
    const inside = [`${key}/a/1`, `${key}/a/2`, `${key}/a/b/c`, `${key}/a/b/c/d`, `${key}/a/a`];
    const outside = [`${key}/a`, `${key}/ab/1`, `${key}/b/a/1`, `${key}/A/1`, `${key}/a-/1`, `${key}/a.b/1`];
    for (const one of [...inside, ...outside]) await store.put(one, someBytes(3));
    for (const limit of [1, 2, 3, 1000]) {
      assert.deepEqual(await listed(store, `${key}/a/`, limit), new Set(inside));
      assert.deepEqual(await listed(store, `${key}/`, limit), new Set([...inside, ...outside]));
    }
    assert.deepEqual(await store.list(`${key}/a/1/`), { keys: [] });
    assert.deepEqual(await store.list(`${key}/none/`), { keys: [] });
  });

  test("list returns a key once, however often it was replaced, until it is deleted", async (store, key) => {
    for (let turn = 0; turn < 5; turn++) await store.put(`${key}/x`, someBytes(turn));
    assert.deepEqual(await store.list(`${key}/`), { keys: [`${key}/x`] });
    await store.delete(`${key}/x`);
    assert.deepEqual(await store.list(`${key}/`), { keys: [] });
  });

  test("list misses no key that exists throughout, while others are created and deleted", async (store, key) => {
    const lasting = Array.from({ length: 60 }, (_, index) => `${key}/${index % 3}/lasting${index}`);
    const passing = Array.from({ length: 60 }, (_, index) => `${key}/${index % 3}/passing${index}`);
    for (const one of [...lasting, ...passing]) await store.put(one, someBytes(1));
    const seen = new Set<string>();
    let cursor: string | undefined;
    let turn = 0;
    do {
      const page = await store.list(`${key}/`, cursor === undefined ? { limit: 10 } : { limit: 10, cursor });
      for (const one of page.keys) seen.add(one);
      cursor = page.cursor;
      // The keys of the page are deleted too: a cursor must work after its key is deleted.
      for (const one of [...page.keys, ...passing.slice(0, 5)]) {
        if (!lasting.includes(one)) await store.delete(one);
      }
      passing.splice(0, 5);
      await store.put(`${key}/${turn % 3}/coming${turn}`, someBytes(1));
      assert.ok(++turn < 100, "the pages never end");
    } while (cursor !== undefined);
    assert.deepEqual(
      lasting.filter((one) => !seen.has(one)),
      [],
    );
  });

  test("list rejects an invalid limit with bad_request", async (store) => {
    for (const limit of [0, -1, 1001, 1.5, Number.NaN]) {
      await assertRejects(() => store.list("", { limit }), "bad_request", `${limit}`);
    }
  });
}

/** All keys under a prefix, in pages of at most `limit`. */
async function listed(store: BlobStore, prefix: string, limit: number): Promise<Set<string>> {
  return new Set(await readKeys(limit, (page) => store.list(prefix, page)));
}
