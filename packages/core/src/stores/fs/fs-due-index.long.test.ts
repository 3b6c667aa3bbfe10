import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dueIndexContract } from "@outrigger/testing";
import { afterAll, test, vi } from "vitest";
import { createFaultyStore } from "../../../test/faulty-store.ts";
import { createFsBlobStore } from "./fs-blob-store.ts";

// The real functions, with their calls counted.
vi.mock("node:fs/promises", { spy: true });

const root = mkdtempSync(join(tmpdir(), "outrigger-due-"));
afterAll(() => rmSync(root, { recursive: true }));

const newDirectory = () => mkdtempSync(join(root, "store-"));
/** The data directory of each store that the contract opens. */
const directories = new WeakMap<object, string>();

async function open(directory: string) {
  const store = createFsBlobStore({ directory });
  directories.set(store, directory);
  return store;
}

dueIndexContract(test, () => open(newDirectory()), {
  reopen: (store) => open(directories.get(store) ?? newDirectory()),
});

const HOUR_MS = 3_600_000;
const ALL = [Number.POSITIVE_INFINITY, 1000] as const;

test("the empty directory of an hour is deleted long after the hour has ended, and not before", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  const now = Date.now();
  const times = [now - 1000 * HOUR_MS, now - 3 * HOUR_MS, now, now + HOUR_MS, now + 1000 * HOUR_MS];
  for (const dueMs of times) await store.addDue("jobs", { id: "x", dueMs });
  const staying = { id: "x", dueMs: now - 50 * HOUR_MS };
  await store.addDue("jobs", staying);
  for (const dueMs of times) await store.removeDue("jobs", { id: "x", dueMs });
  assert.deepEqual(await store.listDue("jobs", ...ALL), [staying]);
  assert.equal(readdirSync(join(directory, "due/jobs")).length, 4);
  for (const dueMs of times) await store.addDue("jobs", { id: "x", dueMs });
  assert.equal((await store.listDue("jobs", ...ALL)).length, 6);
});

test("foreign files and links among the entries are ignored and kept", async () => {
  const directory = newDirectory();
  const store = createFsBlobStore({ directory });
  const entry = { id: "x", dueMs: 1_700_000_000_000 };
  await store.addDue("jobs", entry);
  const list = join(directory, "due/jobs");
  const hour = join(list, "0a4da");
  const others = ["0loyw3v28", "0loyw3v28.", "0loyw3v28.x y", "0LOYW3V28.x", "0loyw3v2.x", ".nfs0001", "x"];
  // This file is an entry of another hour.
  for (const name of [...others, "0loz00000.x"]) writeFileSync(join(hour, name), "");
  mkdirSync(join(hour, "0loyw3v29.directory"));
  symlinkSync("/dev/null", join(hour, "0loyw3v29.link"));
  writeFileSync(join(list, "0a4db"), "");
  symlinkSync("0a4da", join(list, "0a4dc"));
  for (const name of ["0A4DA", "a4da", "00a4da", "x"]) mkdirSync(join(list, name));
  const before = readdirSync(list, { recursive: true });
  assert.deepEqual(await store.listDue("jobs", ...ALL), [entry]);
  assert.deepEqual(readdirSync(list, { recursive: true }), before);
  await store.removeDue("jobs", entry);
  assert.deepEqual(await store.listDue("jobs", ...ALL), []);
});

test("listing due entries reads no more directories when many entries are not due", async () => {
  const { store, files } = createFaultyStore(newDirectory());
  files.syncDirectory = async () => undefined; // Flushes would take minutes and are not tested here.
  const now = Date.now();
  const due = Array.from({ length: 100 }, (_, index) => ({ id: `due-${index}`, dueMs: now - 100 + index }));
  for (const entry of due) await store.addDue("life", entry);
  const addLive = async (from: number, to: number) => {
    for (let index = from; index < to; index++) {
      await store.addDue("life", { id: `live-${index}`, dueMs: now + ((index % 700) + 1) * HOUR_MS });
    }
  };
  const readsOfListing = async () => {
    vi.mocked(readdir).mockClear();
    assert.deepEqual(await store.listDue("life", now, 1000), due);
    return vi.mocked(readdir).mock.calls.length;
  };
  await addLive(0, 1000);
  const reads = await readsOfListing();
  await addLive(1000, 20_000);
  assert.equal(await readsOfListing(), reads);
  // The list and the hour, plus the hour of the oldest entry if it is another.
  assert.ok(reads >= 2 && reads <= 3, `${reads} reads`);
});
