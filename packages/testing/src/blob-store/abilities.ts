import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import {
  type BlobInfo,
  type BlobStore,
  hasBulkRemoval,
  hasDueIndex,
  hasJointAdoption,
  hasRecordQueries,
  hasRevisionProbe,
  isLocalStore,
  type LocalStore,
} from "@outrigger/core/stores";
import { bulkRemovalBehaviour } from "./bulk-abilities.ts";
import { recordQueriesBehaviour } from "./record-queries.ts";
import {
  assertBytes,
  assertRejects,
  assertSame,
  type BlobStoreScope,
  failure,
  someBytes,
  winnerOf,
} from "./scope.ts";

/** How a store declares an ability, and the tests of that ability. A due index has its own suite. */
const ABILITIES = {
  local: [isLocalStore, spoolBehaviour, localFilesBehaviour, secretBehaviour],
  "joint adoption": [hasJointAdoption, jointAdoptionBehaviour],
  probe: [hasRevisionProbe, probeBehaviour],
  "due index": [hasDueIndex],
  "bulk removal": [hasBulkRemoval, bulkRemovalBehaviour],
  "record queries": [hasRecordQueries, recordQueriesBehaviour],
} satisfies Record<string, [(store: BlobStore) => boolean, ...((scope: BlobStoreScope) => void)[]]>;

export type BlobStoreAbility = keyof typeof ABILITIES;

/** Tests the optional abilities that a store declares. */
export function abilitiesBehaviour(scope: BlobStoreScope, abilities: readonly BlobStoreAbility[]): void {
  scope.test("the store has exactly the abilities that it declares", async (store) => {
    for (const [name, [has]] of Object.entries(ABILITIES)) {
      assert.equal(
        has(store),
        abilities.some((ability) => ability === name),
        name,
      );
    }
  });
  for (const ability of new Set(abilities)) {
    const [, ...behaviours] = ABILITIES[ability];
    for (const behaviour of behaviours) behaviour(scope);
  }
}

function spoolBehaviour({ test, largestBytes }: BlobStoreScope): void {
  test("adopt stores spooled files of every size", async (store, key) => {
    assert.ok(isLocalStore(store));
    assert.ok((await stat(store.spoolDirectory)).isDirectory());
    for (const size of [0, 1, 65_536, largestBytes]) {
      const bytes = someBytes(size);
      const { path, dispose } = await spooled(store, bytes);
      const { revision, ...info } = await store.adopt(key, path);
      await dispose();
      assert.deepEqual(info, { size });
      assert.deepEqual(await store.stat(key), { size, revision });
      await assertBytes(store, key, bytes);
    }
  });

  test("adopt obeys ifRevision as put does", async (store, key) => {
    assert.ok(isLocalStore(store));
    const bytes = someBytes(1000);
    const first = await spooled(store, bytes);
    await assertRejects(() => store.adopt(key, first.path, { ifRevision: "1" }), "conflict");
    const { revision } = await store.adopt(key, first.path, { ifRevision: null });
    await first.dispose();
    const second = await spooled(store, someBytes(10));
    await assertRejects(() => store.adopt(key, second.path, { ifRevision: null }), "conflict");
    assert.equal((await store.stat(key))?.revision, revision);
    await assertBytes(store, key, bytes);
    assert.notEqual((await store.adopt(key, second.path, { ifRevision: revision })).revision, revision);
    await second.dispose();
    await assertRejects(() => store.put(key, bytes, { ifRevision: revision }), "conflict");
  });

  test("of many spooled files adopted at once with ifRevision null, exactly one creates the blob", async (store, key) => {
    assert.ok(isLocalStore(store));
    const files = await Promise.all(
      Array.from({ length: 10 }, (_, racer) => spooled(store, Buffer.from(`${racer}`))),
    );
    const results = await Promise.allSettled(
      files.map(({ path }) => store.adopt(key, path, { ifRevision: null })),
    );
    await Promise.all(files.map(({ dispose }) => dispose()));
    const winner = winnerOf(results);
    await assertBytes(store, key, Buffer.from(`${winner}`));
  });

  test("adopt stores nothing if the signal is aborted or the file is missing", async (store, key) => {
    assert.ok(isLocalStore(store));
    const { path, dispose } = await spooled(store, someBytes(10));
    const reason = new Error("not wanted");
    assert.equal(await failure(() => store.adopt(key, path, { signal: AbortSignal.abort(reason) })), reason);
    await dispose();
    await assertRejects(() => store.adopt(key, path), "store_unavailable");
    assert.equal(await store.stat(key), null);
  });
}

function jointAdoptionBehaviour({ test, largestBytes }: BlobStoreScope): void {
  test("adoptTogether stores bytes and spooled files of every size, which are replaced and deleted like others", async (store, key) => {
    assert.ok(hasJointAdoption(store));
    for (const [index, size] of [0, 1, 100_000, largestBytes].entries()) {
      const [first, second] = [someBytes(size), someBytes(size)];
      const { path, dispose } = await spooled(store, second);
      const stored: Record<string, BlobInfo> = await store.adoptTogether(`${key}-${index}/`, {
        first,
        second: { path },
      });
      await dispose();
      for (const [name, bytes] of Object.entries({ first, second })) {
        const blobKey = `${key}-${index}/${name}`;
        const { revision = "", ...info } = stored[name] ?? {};
        assert.deepEqual(info, { size });
        assert.equal((await store.stat(blobKey))?.revision, revision);
        await assertBytes(store, blobKey, bytes);
        await store.put(blobKey, someBytes(10), { ifRevision: revision });
        await assertRejects(() => store.put(blobKey, bytes, { ifRevision: revision }), "conflict");
      }
      assert.deepEqual((await store.list(`${key}-${index}/`)).keys.length, 2);
      assert.equal(await store.delete(`${key}-${index}/first`), true);
      assert.deepEqual((await store.list(`${key}-${index}/`)).keys, [`${key}-${index}/second`]);
    }
  });

  test("of many simultaneous calls of adoptTogether with one prefix, exactly one stores its blobs", async (store, key) => {
    assert.ok(hasJointAdoption(store));
    const files = await Promise.all([..."0123456789"].map((racer) => spooled(store, Buffer.from(racer))));
    const results = await Promise.allSettled(
      files.map(({ path }, racer) =>
        store.adoptTogether(`${key}/`, { bytes: Buffer.from(`${racer}`), file: { path } }),
      ),
    );
    await Promise.all(files.map(({ dispose }) => dispose()));
    const winner = winnerOf(results);
    for (const name of ["bytes", "file"]) {
      await assertBytes(store, `${key}/${name}`, Buffer.from(`${winner}`));
    }
  });

  test("adoptTogether rejects with conflict if any key begins with the prefix, and changes nothing", async (store, key) => {
    assert.ok(hasJointAdoption(store));
    const bytes = someBytes(10);
    await store.put(`${key}/other/name`, bytes);
    // It does not begin with the prefix.
    await store.put(`${key}-2`, bytes);
    const { path, dispose } = await spooled(store, bytes);
    await assertRejects(() => store.adoptTogether(`${key}/`, { first: bytes, second: { path } }), "conflict");
    await dispose();
    assert.deepEqual((await store.list(`${key}/`)).keys, [`${key}/other/name`]);
    await store.delete(`${key}/other/name`);
    await store.adoptTogether(`${key}/`, { first: bytes });
    await store.adoptTogether(`${key}-2/`, { first: bytes });
    await assertBytes(store, `${key}/first`, bytes);
  });

  test("adoptTogether stores nothing if the signal is aborted, a file is missing or a name is invalid", async (store, key) => {
    assert.ok(hasJointAdoption(store));
    const bytes = someBytes(10);
    const reason = new Error("not wanted");
    const options = { signal: AbortSignal.abort(reason) };
    assert.equal(await failure(() => store.adoptTogether(`${key}/`, { bytes }, options)), reason);
    const missing = { path: join(store.spoolDirectory, "missing") };
    await assertRejects(() => store.adoptTogether(`${key}/`, { bytes, missing }), "store_unavailable");
    for (const [prefix, name] of [
      [key, "name"],
      ["", "name"],
      ["/", "name"],
      [`${key}/below/`, "name"],
      [`${key}/`, ""],
      [`${key}/`, "a/b"],
      [`${key}/`, "../x"],
    ] as const) {
      await assertRejects(() => store.adoptTogether(prefix, { [name]: bytes }), "bad_request", prefix + name);
    }
    assert.deepEqual((await store.list(`${key}/`)).keys, []);
    await store.close();
    await assertRejects(() => store.adoptTogether(`${key}/`, { bytes }), "store_unavailable");
  });
}

function probeBehaviour({ test }: BlobStoreScope): void {
  test("isCurrent tells whether a blob still has the revision", async (store, key) => {
    assert.ok(hasRevisionProbe(store));
    assert.equal(store.isCurrent(key, "1"), false);
    const { revision: first } = await store.put(key, someBytes(10));
    assert.equal(store.isCurrent(key, first), true);
    const { revision: second } = await store.put(key, someBytes(10));
    assert.deepEqual([store.isCurrent(key, first), store.isCurrent(key, second)], [false, true]);
    await store.delete(key);
    assert.deepEqual([store.isCurrent(key, first), store.isCurrent(key, second)], [false, false]);
    const { revision: third } = await store.put(key, someBytes(10));
    const now = [first, second, third].map((revision) => store.isCurrent(key, revision));
    assert.deepEqual(now, [false, false, true]);
    assert.equal(store.isCurrent(`${key}/other`, third), false);
  });

  test("isCurrent returns false, and never throws, for invalid keys and revisions", async (store, key) => {
    assert.ok(hasRevisionProbe(store));
    const { revision } = await store.put(key, someBytes(10));
    const numbers = ["", "0", "-1", "NaN", "1e999", "1", "9".repeat(400)];
    for (const text of [...numbers, "\0", "../x", `${revision}0`, ` ${revision}`])
      assert.equal(store.isCurrent(key, text), false, JSON.stringify(text));
    assert.equal(store.isCurrent(key, revision), true);
    await store.close();
    assert.equal(store.isCurrent(key, revision), false);
  });
}

function localFilesBehaviour({ test }: BlobStoreScope): void {
  test("localPath returns the path of a file below blobDirectory with exactly the blob's bytes", async (store, key) => {
    assert.ok(isLocalStore(store));
    assert.equal(await store.localPath(key), null);
    for (const size of [10, 100_000, 0]) {
      const bytes = someBytes(size);
      await store.put(key, bytes);
      const path = await store.localPath(key);
      assert.ok(path !== null);
      assert.ok(path.startsWith(`${resolve(store.blobDirectory)}${sep}`), path);
      assertSame(await readFile(path), bytes);
    }
    await store.delete(key);
    assert.equal(await store.localPath(key), null);
  });
}

function secretBehaviour({ test }: BlobStoreScope): void {
  test("localSecret returns the same 32 bytes to simultaneous and later calls", async (store) => {
    assert.ok(isLocalStore(store));
    assert.equal(await store.readLocalSecret(), null);
    const [first, ...others] = await Promise.all(Array.from({ length: 5 }, () => store.localSecret()));
    assert.equal(first?.length, 32);
    assert.ok(first.some((byte) => byte !== first[0]));
    for (const other of [...others, await store.localSecret()]) assert.ok(first.equals(other));
    assert.ok((await store.readLocalSecret())?.equals(first));
    assert.ok((await readFile(store.secretPath)).equals(first));
  });
}

async function spooled(
  store: BlobStore & LocalStore,
  bytes: Buffer,
): Promise<{ path: string; dispose: () => Promise<void> }> {
  const path = join(store.spoolDirectory, `contract-${randomBytes(9).toString("hex")}`);
  await writeFile(path, bytes);
  return { path, dispose: () => rm(path, { force: true }) };
}
