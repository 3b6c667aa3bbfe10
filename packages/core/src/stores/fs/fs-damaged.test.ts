import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createFsBlobStore } from "./fs-blob-store.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-damaged-"));
afterAll(() => rmSync(root, { recursive: true }));

const newDirectory = () => mkdtempSync(join(root, "store-"));
const LIFE = "00112233445566ff";
const IN_TWO_HOURS = () => Date.now() + 7_200_000;

const storedText = async (store: ReturnType<typeof createFsBlobStore>, key: string) =>
  String((await store.get(key))?.body);

test("a read returns the newest intact generation below one that lost its bytes, and writes continue above it", async () => {
  const store = createFsBlobStore({ directory: newDirectory() });
  const revisions: string[] = [];
  for (const body of ["1", "2", "3", "4"]) revisions.push((await store.put("x", Buffer.from(body))).revision);
  const path = (await store.localPath("x")) ?? "";
  truncateSync(path);
  truncateSync(path.replace(/4$/, "3"));
  assert.deepEqual(await store.get("x"), { size: 1, revision: revisions[1], body: Buffer.from("2") });
  assert.deepEqual(await store.stat("x"), { size: 1, revision: revisions[1] });
  assert.equal(await store.localPath("x"), path.replace(/4$/, "2"));
  assert.equal(await store.removeSuperseded(IN_TWO_HOURS(), () => true), 1);
  assert.equal(await storedText(store, "x"), "2");
  await expect(store.put("x", Buffer.from("y"), { ifRevision: revisions[3] ?? "" })).rejects.toMatchObject({
    code: "conflict",
  });
  const { revision } = await store.put("x", Buffer.from("5"), { ifRevision: revisions[1] ?? "" });
  assert.ok(revision.startsWith(`${revisions[0]?.slice(0, 16)}.5.`));
  assert.equal(await storedText(store, "x"), "5");
});

test("a generation that cannot be read rejects, and no older generation is served", async () => {
  const store = createFsBlobStore({ directory: newDirectory() });
  for (const body of ["old", "new"]) await store.put("x", Buffer.from(body));
  const path = (await store.localPath("x")) ?? "";
  renameSync(path, `${path}.aside`);
  symlinkSync(`${path}.aside`, path); // Not followed, so opening it fails for every user.
  await expect(store.get("x")).rejects.toMatchObject({ code: "store_unavailable" });
});

test("a chain with nothing but empty files rejects as damaged, and can be deleted", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  const chain = join(directory, "blobs/ab/ab/x@");
  mkdirSync(chain, { recursive: true });
  for (const generation of [0, 1, 2])
    writeFileSync(join(chain, `${LIFE}.${generation}`), "", { mode: 0o600 });
  for (const call of [
    () => store.get("ab/x"),
    () => store.stat("ab/x"),
    () => store.put("ab/x", Buffer.from("y")),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: "damaged", message: expect.stringContaining("x@") });
  }
  assert.equal(await store.delete("ab/x"), true);
  await store.put("ab/x", Buffer.from("y"));
});

test.each([
  ["nothing", []],
  ["the anchor", ["0"]],
])("a copied chain with only %s counts as absent, and can be created again", async (_what, names) => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  const chain = join(directory, "blobs/ab/ab/x@");
  for (const call of [
    async () => assert.equal(await store.get("ab/x"), null),
    async () => assert.equal(await store.stat("ab/x"), null),
    async () => assert.ok(await store.put("ab/x", Buffer.from("y"), { ifRevision: null })),
  ]) {
    mkdirSync(chain, { recursive: true });
    for (const name of names) writeFileSync(join(chain, `${LIFE}.${name}`), "", { mode: 0o400 });
    assert.deepEqual((await store.list("")).keys, ["ab/x"]);
    await call();
    assert.equal(existsSync(join(chain, `${LIFE}.0`)), false);
  }
  assert.equal(await storedText(store, "ab/x"), "y");
});

test("a copied chain without its anchor, or with files of an interrupted copy, can be read and written", async () => {
  const store = createFsBlobStore({ directory: newDirectory() });
  for (const body of ["1", "2", "3"]) await store.put("x", Buffer.from(body));
  const chain = dirname((await store.localPath("x")) ?? "");
  const life = readdirSync(chain)[0]?.slice(0, 16);
  rmSync(join(chain, `${life}.0`));
  rmSync(join(chain, `${life}.1`));
  writeFileSync(join(chain, `.${life}.3.aB12cD`), "part");
  chmodSync(join(chain, `.${life}.3.aB12cD`), 0o600);
  assert.equal(await storedText(store, "x"), "3");
  await store.put("x", Buffer.from("4"));
  assert.equal(await storedText(store, "x"), "4");
  await store.removeSuperseded(IN_TWO_HOURS(), () => true);
  assert.equal(await storedText(store, "x"), "4");
  assert.equal(await store.delete("x"), true);
});
