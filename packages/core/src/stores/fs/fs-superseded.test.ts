import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { link } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createFaultyStore, systemError } from "../../../test/faulty-store.ts";
import { createFsBlobStore } from "./fs-blob-store.ts";
import { nodeFiles } from "./fs-files.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-superseded-"));
afterAll(() => rmSync(root, { recursive: true }));

const HOUR_MS = 3_600_000;
const newStore = () => createFaultyStore(mkdtempSync(join(root, "store-")));
type Store = ReturnType<typeof newStore>["store"];

const storedText = async (store: Store, key: string) => String((await store.get(key))?.body);
const always = () => true;
/** Removes all generations superseded until now, including those of the current hour. */
const removeAll = (store: Store) => store.removeSuperseded(Date.now() + 2 * HOUR_MS, always);

async function pathOf(store: Store, key: string): Promise<string> {
  const path = await store.localPath(key);
  assert.ok(path !== null);
  return path;
}

/** The generation numbers in the chain of a key, and "anchor". */
async function generationsIn(store: Store, key: string): Promise<string[]> {
  const names = readdirSync(dirname(await pathOf(store, key)));
  return names.map((name) => name.replace(/^[0-9a-f]{16}\./, "")).sort((a, b) => Number(a) - Number(b));
}

test("a removal stops before the next key when mayGoOn returns false, and the next removal deletes the rest", async () => {
  const { store } = newStore();
  for (const key of ["a", "b", "c"]) for (const body of ["1", "2"]) await store.put(key, Buffer.from(body));
  let left = 2;
  const removed = await store.removeSuperseded(Date.now() + 2 * HOUR_MS, () => left-- > 0);
  assert.equal(removed, 2);
  assert.equal(await removeAll(store), 1);
});

test("a removal ignores files that are not notes, and a key too long for a note is deleted with its chain", async () => {
  const { store, directory } = newStore();
  const long = `${"a".repeat(100)}/${"b".repeat(100)}/${"c".repeat(100)}`;
  for (const key of ["x", long]) for (const body of ["1", "2"]) await store.put(key, Buffer.from(body));
  const [hour = ""] = readdirSync(join(directory, "superseded"));
  const strange = join(directory, "superseded", hour, "..@..@secret");
  writeFileSync(strange, "");
  assert.equal(await removeAll(store), 1);
  assert.deepEqual(readdirSync(dirname(strange)), [basename(strange)]);
  assert.equal(await storedText(store, long), "2");
  assert.equal(await store.delete(long), true);
  assert.deepEqual(
    readdirSync(join(directory, "blobs"), { recursive: true }).filter((name) =>
      String(name).includes("b".repeat(100)),
    ),
    [],
  );
});

test("a blob can be replaced on a full disk that takes no note", async () => {
  const { store, directory } = newStore();
  await store.put("x", Buffer.from("1"));
  rmSync(join(directory, "superseded"), { recursive: true, force: true });
  writeFileSync(join(directory, "superseded"), "in the way");
  await store.put("x", Buffer.from("2"));
  assert.equal(await storedText(store, "x"), "2");
});

test("a writer suspended after its link succeeds, even if its temporary file was deleted meanwhile", async () => {
  for (const isTakenForDead of [false, true]) {
    const slow = newStore();
    const other = createFsBlobStore({ directory: slow.directory });
    const { revision } = await other.put("x", Buffer.from("1"));
    slow.files.link = async (from, to) => {
      await link(from, to);
      if (isTakenForDead) rmSync(from);
      assert.equal(await removeAll(other), isTakenForDead ? 1 : 0);
    };
    const late = await slow.store.put("x", Buffer.from("2"), { ifRevision: revision });
    assert.equal(other.isCurrent("x", late.revision), true);
    assert.equal(await storedText(other, "x"), "2");
    assert.equal(await removeAll(other), isTakenForDead ? 0 : 1);
    assert.deepEqual(await generationsIn(other, "x"), ["0", "2"]);
  }
});

/** Delays the next link of a blob's file until `go` is called, as if its writer were suspended. */
function suspendNextLink(files: ReturnType<typeof newStore>["files"]) {
  let go = () => {};
  const going = new Promise<void>((resolve) => {
    go = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    files.link = async (from, to) => {
      files.link = nodeFiles.link;
      resolve();
      await going;
      await link(from, to);
    };
  });
  return { reached, go };
}

test.each(["unchanged", "deleted", "deleted and created again"])(
  "a writer suspended while the generation it saw was removed changes nothing in a chain that is %s",
  async (fate) => {
    const slow = newStore();
    const other = createFsBlobStore({ directory: slow.directory });
    const { revision } = await other.put("x", Buffer.from("1"));
    const { reached, go } = suspendNextLink(slow.files);
    const late = slow.store.put("x", Buffer.from("late"), { ifRevision: revision });
    const refused = expect(late).rejects.toMatchObject({ code: "conflict" });
    await reached;
    for (const body of ["2", "3", "4"]) await other.put("x", Buffer.from(body));
    await removeAll(other);
    if (fate !== "unchanged") await other.delete("x");
    if (fate === "deleted and created again") {
      for (const body of ["5", "6", "7"]) await other.put("x", Buffer.from(body));
      await removeAll(other);
    }
    const before = fate === "deleted" ? null : await other.get("x");
    go();
    await refused;
    assert.deepEqual(await other.get("x"), before);
    if (before !== null) {
      assert.equal((await generationsIn(other, "x")).length, 2);
      assert.equal(other.isCurrent("x", before.revision), true);
    }
    assert.equal(other.isCurrent("x", revision), false);
    assert.deepEqual(slow.temporary(), []);
  },
);

test("a killed writer's link into a chain of another life, or below the head, is not a blob", async () => {
  const { store } = newStore();
  // Like a writer's file, it is older than the writer's check. A later file might get the inode of a deleted
  // one.
  const stray = join(store.spoolDirectory, "stray");
  writeFileSync(stray, "stray", { mode: 0o600 });
  const { revision: first } = await store.put("x", Buffer.from("1"));
  const { revision: second } = await store.put("x", Buffer.from("2"));
  await store.delete("x");
  for (const body of ["3", "4", "5"]) await store.put("x", Buffer.from(body));
  await removeAll(store);
  const directory = dirname(await pathOf(store, "x"));
  const life = basename(await pathOf(store, "x")).slice(0, 16);
  // Two links of the previous life, one with a higher number, and one link that was superseded and removed.
  for (const name of [`${first.slice(0, 16)}.2`, `${first.slice(0, 16)}.9`, `${life}.2`]) {
    await link(stray, join(directory, name));
  }
  assert.equal(await storedText(store, "x"), "5");
  for (const revision of [first, second]) assert.equal(store.isCurrent("x", revision), false);
  const { revision } = (await store.stat("x")) ?? { revision: "" };
  await store.put("x", Buffer.from("6"), { ifRevision: revision });
  assert.equal(await storedText(store, "x"), "6");
  await removeAll(store);
  assert.equal(await store.delete("x"), true);
});

test("a replacement that cannot be made durable is rolled back, also after other generations were removed", async () => {
  const { store, files } = newStore();
  for (const body of ["1", "2"]) await store.put("x", Buffer.from(body));
  await removeAll(store);
  const { revision } = (await store.stat("x")) ?? { revision: "" };
  files.syncDirectory = () => Promise.reject(systemError("EIO", "fsync"));
  await expect(store.put("x", Buffer.from("3"))).rejects.toMatchObject({ code: "store_unavailable" });
  assert.equal(store.isCurrent("x", revision), true);
  assert.equal(await storedText(store, "x"), "2");
});
