import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { createFaultyStore, failAt, systemError } from "../../../test/faulty-store.ts";
import type { DueEntry } from "../../contracts/due-index.ts";
import { createFsBlobStore } from "./fs-blob-store.ts";
import { type FileSystem, nodeFiles } from "./fs-files.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-due-faults-"));
afterAll(() => rmSync(root, { recursive: true }));

const newDirectory = () => mkdtempSync(join(root, "store-"));

const HOUR_MS = 3_600_000;
/** Far enough ahead that it does not pass during the test. */
const LATER_MS = Date.now() + 24 * HOUR_MS;
const ALL = [Number.POSITIVE_INFINITY, 1000] as const;

test.each([
  ["new", []],
  ["existing", [{ id: "theirs", dueMs: LATER_MS }]],
])(
  "an entry in %s directories is not acknowledged if one of their flushes fails, and can be added again",
  async (_which, theirs) => {
    let failing = 0;
    for (; ; failing++) {
      const { store, files, directory } = createFaultyStore(newDirectory());
      for (const entry of theirs) await createFsBlobStore({ directory }).addDue("jobs", entry);
      const entry = { id: "x", dueMs: LATER_MS };
      files.syncDirectory = failAt(failing);
      const error: unknown = await store.addDue("jobs", entry).catch((reason) => reason);
      if (error === undefined) break;
      expect(error).toMatchObject({ code: "store_unavailable", cause: { code: "EIO" } });
      const flushed = recordFlushes(files, directory);
      await store.addDue("jobs", entry);
      const failed = ["", "due", "due/jobs", "due/jobs/hour"][failing] ?? "none";
      assert.ok(flushed.includes(failed), `${failed} was not flushed again, but ${flushed}`);
      assert.equal((await store.listDue("jobs", ...ALL)).length, theirs.length + 1);
    }
    assert.equal(failing, 4);
  },
);

test("an entry whose flush failed gets a new file when it is added again", async () => {
  const { store, files, directory, temporary } = createFaultyStore(newDirectory());
  await store.addDue("jobs", { id: "first", dueMs: LATER_MS });
  const entry = { id: "x", dueMs: LATER_MS };
  files.syncDirectory = failAt(0);
  await expect(store.addDue("jobs", entry)).rejects.toMatchObject({ code: "store_unavailable" });
  const hour = join(directory, "due/jobs", readdirSync(join(directory, "due/jobs"))[0] ?? "");
  const name = readdirSync(hour).find((candidate) => candidate.endsWith(".x")) ?? "";
  const { ino } = statSync(join(hour, name));
  await store.addDue("jobs", entry);
  assert.notEqual(statSync(join(hour, name)).ino, ino);
  assert.equal((await store.listDue("jobs", ...ALL)).length, 2);
  assert.deepEqual(temporary(), []);
});

test("adding an entry on a full disk rejects with no_space", async () => {
  const { store, files } = createFaultyStore(newDirectory());
  files.syncDirectory = () => Promise.reject(systemError("ENOSPC", "fsync"));
  await expect(store.addDue("jobs", { id: "x", dueMs: LATER_MS })).rejects.toMatchObject({
    code: "no_space",
  });
});

test("the directory of a past hour is flushed with every entry, since any process may delete it", async () => {
  const { store, files, directory } = createFaultyStore(newDirectory());
  const dueMs = Date.now() - 24 * HOUR_MS;
  await store.addDue("jobs", { id: "x", dueMs });
  const flushed = recordFlushes(files, directory);
  await store.addDue("jobs", { id: "y", dueMs });
  assert.deepEqual(flushed.splice(0), ["due/jobs", "due/jobs/hour"]);
});

test("simultaneous entries share flushes, and each is acknowledged only by a flush that began after it", async () => {
  const { store, files } = createFaultyStore(newDirectory());
  await store.addDue("jobs", { id: "first", dueMs: LATER_MS });
  const covered = new Set<string>();
  let flushes = 0;
  files.syncDirectory = async (path) => {
    flushes++;
    const there = readdirSync(path).map((name) => name.slice(name.indexOf(".") + 1));
    await nodeFiles.syncDirectory(path);
    for (const id of there) covered.add(id);
  };
  const adders = Array.from({ length: 8 }, async (_, adder) => {
    for (let turn = 0; turn < 25; turn++) {
      const id = `${adder}-${turn}`;
      // Some entries arrive while a flush is running.
      for (let ticks = (adder * 3 + turn) % 7; ticks > 0; ticks--) await setImmediate();
      await store.addDue("jobs", { id, dueMs: LATER_MS });
      assert.ok(covered.has(id), `${id} was acknowledged before it was flushed`);
    }
  });
  await Promise.all(adders);
  assert.equal((await store.listDue("jobs", ...ALL)).length, 201);
  assert.ok(flushes < 100, `${flushes} flushes for 200 entries`);
});

test("a failed flush rejects the entries that waited for it, and not those added later", async () => {
  const { store, files } = createFaultyStore(newDirectory());
  const entry = (id: string): DueEntry => ({ id, dueMs: LATER_MS });
  await store.addDue("jobs", entry("first"));
  let late: Promise<void>[] = [];
  files.syncDirectory = async () => {
    files.syncDirectory = nodeFiles.syncDirectory;
    late = ["c", "d"].map((id) => store.addDue("jobs", entry(id)));
    throw systemError("EIO", "fsync");
  };
  const early = ["a", "b"].map((id) => store.addDue("jobs", entry(id)));
  for (const add of early) await expect(add).rejects.toMatchObject({ code: "store_unavailable" });
  assert.equal(late.length, 2);
  await Promise.all(late);
});

/**
 * Records the directories flushed from now on, relative to the store's; each hour directory appears as
 * `hour`.
 */
function recordFlushes(files: FileSystem, directory: string): string[] {
  const flushed: string[] = [];
  files.syncDirectory = async (path) => {
    await nodeFiles.syncDirectory(path);
    flushed.push(relative(directory, path).replace(/\/[0-9a-z]{5}$/, "/hour"));
  };
  return flushed;
}
