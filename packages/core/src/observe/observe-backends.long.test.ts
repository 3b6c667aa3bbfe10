import { mkdtempSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { blobStoreContract } from "@outrigger/testing";
import { afterAll, expect, test } from "vitest";
import { createLeases } from "../../test/leases.ts";
import { createRecordingObserver } from "../../test/recording-observer.ts";
import type { BlobStore } from "../contracts/blob-store.ts";
import { hasDueIndex } from "../contracts/due-index.ts";
import { hasLeases } from "../contracts/lease-store.ts";
import { hasRecordQueries, type RecordQueries } from "../contracts/record-queries.ts";
import { createFsBlobStore } from "../stores/fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../stores/memory/memory-blob-store.ts";
import { observeStore } from "./observe-backends.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-observed-"));
afterAll(() => rmSync(root, { recursive: true }));

const newStore = () => createFsBlobStore({ directory: mkdtempSync(join(root, "store-")) });

// An observed store must fulfil the same contract.
blobStoreContract(test, async () => observeStore(newStore(), "records", createRecordingObserver()), {
  abilities: ["local", "joint adoption", "probe", "due index", "bulk removal"],
  largestBytes: 1_000_000,
  listedKeys: 200,
});

/** A class with a private field, as a backend may be written, and without optional abilities. */
class ClassStore implements BlobStore {
  readonly #store = createMemoryBlobStore();
  put(...args: Parameters<BlobStore["put"]>) {
    return this.#store.put(...args);
  }
  get(...args: Parameters<BlobStore["get"]>) {
    return this.#store.get(...args);
  }
  stat(key: string) {
    return this.#store.stat(key);
  }
  delete(key: string) {
    return this.#store.delete(key);
  }
  list(...args: Parameters<BlobStore["list"]>) {
    return this.#store.list(...args);
  }
  close() {
    return this.#store.close();
  }
}

blobStoreContract(
  (name, body) => test(`observed class store, ${name}`, body),
  async () => observeStore(new ClassStore(), "records", createRecordingObserver()),
  { largestBytes: 1_000_000, listedKeys: 200 },
);

test("observeStore reports method, role and outcome of every read and write, and no key", async () => {
  const observer = createRecordingObserver();
  const store = observeStore(newStore(), "originals", observer);
  const { revision } = await store.put("key-of-it", Buffer.from("bytes"));
  await store.get("key-of-it");
  await store.stat("key-of-it");
  await store.list("");
  expect(store.isCurrent("key-of-it", revision)).toBe(true);
  expect(await store.localPath("key-of-it")).not.toBeNull();
  await store.delete("key-of-it");
  await store.delete("key-of-it");
  await store.get("key-of-it");
  await store.stat("key-of-it");
  const spooled = join(store.spoolDirectory, "spooled");
  await writeFile(spooled, "spooled");
  await store.adopt("key-of-it", spooled);
  await expect(store.put("key-of-it", Buffer.from(""), { ifRevision: null })).rejects.toMatchObject({
    code: "conflict",
  });
  await store.adoptTogether("key-of-others/", { one: Buffer.from("1"), two: Buffer.from("2") });
  const operation = (method: string) => ({ kind: "store", role: "originals", method });
  expect(observer.ended).toEqual([
    { operation: operation("put"), outcome: "ok" },
    { operation: operation("get"), outcome: "ok" },
    { operation: operation("stat"), outcome: "ok" },
    { operation: operation("list"), outcome: "ok" },
    { operation: operation("delete"), outcome: "ok" },
    { operation: operation("delete"), outcome: "missing" },
    { operation: operation("get"), outcome: "missing" },
    { operation: operation("stat"), outcome: "missing" },
    { operation: operation("adopt"), outcome: "ok" },
    { operation: operation("put"), outcome: "threw" },
    { operation: operation("adopt"), outcome: "ok" },
  ]);
  await store.close();
});

test("observeStore observes an existing due index, and adds none", async () => {
  const observer = createRecordingObserver();
  const store = observeStore(newStore(), "records", observer);
  const entry = { id: "a", dueMs: 1 };
  await store.addDue("sweep", entry);
  expect(await store.listDue("sweep", 5, 10)).toEqual([entry]);
  await store.removeDue("sweep", entry);
  expect(await store.listDue("sweep", 5, 10)).toEqual([]);
  expect(observer.ended.map(({ operation }) => operation)).toEqual(
    ["addDue", "listDue", "removeDue", "listDue"].map((method) => ({
      kind: "store",
      role: "records",
      method,
    })),
  );
  await store.close();
  expect(hasDueIndex(observeStore(new ClassStore(), "records", observer))).toBe(false);
});

test("observeStore observes ranges and queries of records as list, and adds none", async () => {
  const observer = createRecordingObserver();
  const queries: RecordQueries = {
    recordParts: 3,
    findRecords: async () => ({ records: [] }),
    countRecords: async (part) => ({ counts: [], unknown: [`${part}`] }),
  };
  const store = observeStore({ ...createMemoryBlobStore(), ...queries }, "records", observer);
  expect(hasRecordQueries(store)).toBe(true);
  expect(store.recordParts).toBe(3);
  expect(await store.findRecords({}, 1)).toEqual({ records: [] });
  expect(await store.countRecords(2, 1)).toEqual({ counts: [], unknown: ["2"] });
  expect(observer.ended.map(({ operation }) => operation)).toEqual(
    Array.from({ length: 2 }, () => ({ kind: "store", role: "records", method: "list" })),
  );
  expect(hasRecordQueries(observeStore(new ClassStore(), "records", observer))).toBe(false);
});

test("observeStore passes leasesSupported on, including a rejection", async () => {
  const observer = createRecordingObserver();
  const base = { ...createMemoryBlobStore(), ...createLeases() };
  const answers = [false, true];
  const asked = {
    ...base,
    leasesSupported: async () => answers.shift() ?? Promise.reject(new Error("away")),
  };
  const store = observeStore(asked, "renditions", observer);
  expect(await store.leasesSupported()).toBe(false);
  expect(await store.leasesSupported()).toBe(true);
  await expect(store.leasesSupported()).rejects.toThrow("away");
  expect("leasesSupported" in observeStore(base, "renditions", observer)).toBe(false);
});

test("observeStore observes leases, and reports a lease held elsewhere as missing", async () => {
  const observer = createRecordingObserver();
  const store = observeStore({ ...createMemoryBlobStore(), ...createLeases() }, "renditions", observer);
  const proof = await store.acquireLease("key", 1000);
  expect(await store.acquireLease("key", 1000)).toBeNull();
  expect(await store.renewLease("key", proof ?? "", 1000)).toBe(true);
  await store.releaseLease("key", proof ?? "");
  const operation = (method: string) => ({ kind: "store", role: "renditions", method });
  expect(observer.ended).toEqual([
    { operation: operation("acquireLease"), outcome: "ok" },
    { operation: operation("acquireLease"), outcome: "missing" },
    { operation: operation("renewLease"), outcome: "ok" },
    { operation: operation("releaseLease"), outcome: "ok" },
  ]);
  await store.close();
  expect(hasLeases(observeStore(new ClassStore(), "renditions", observer))).toBe(false);
});
