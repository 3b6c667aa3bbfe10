import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { BlobStore } from "../../core/src/contracts/blob-store.ts";
import { ServiceError } from "../../core/src/errors.ts";
import { createImageId } from "../../core/src/images/record/image-record.ts";
import { readMigrationMark } from "../../core/src/images/store/store-identity.ts";
import { createDueList } from "../../core/src/stores/due-list.ts";
import { createMemoryBlobStore } from "../../core/src/stores/memory/memory-blob-store.ts";
import { addImage, contentOf as contentBut, stocked as stockedStore } from "../test/stocked-store.ts";
import { type MigrateOptions, migrateStorage } from "./migrate.ts";
import type { StorageProgress } from "./options.ts";

const SOURCE = "memory of the test";

const contentOf = (store: BlobStore) => contentBut(store, /^(?:migration|due-)/);
const stocked = async (images: number) => (await stockedStore(images)).store;
const anImage = (store: BlobStore, text: string, changes = {}) => addImage(store, changes, Buffer.from(text));

function migrate(from: BlobStore, to: BlobStore, options: Partial<MigrateOptions> = {}) {
  return migrateStorage({ from, to, source: SOURCE, patienceMs: 3_000, ...options });
}

describe("migrateStorage", () => {
  it("copies everything, and copies and removes the changes in a second run", async () => {
    const from = await stocked(20);
    await from.put("usage/abc", Buffer.from("usage"));
    const to = createMemoryBlobStore();
    const first = await migrate(from, to);
    expect(first).toMatchObject({ images: 20, copied: 61, unchanged: 0, removed: 0, isComplete: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
    const [gone = "", kept = ""] = new Set((await from.list("")).keys.map((key) => key.split("/")[0] ?? ""));
    for (const part of ["record", "original", "renditions/x.webp"]) await from.delete(`${gone}/${part}`);
    await from.put(
      `${kept}/record`,
      Buffer.from(JSON.stringify({ id: kept, expiresAt: 1, gone: { at: 1 } })),
    );
    await anImage(from, "new");
    const second = await migrate(from, to);
    expect(second).toMatchObject({ copied: 4, unchanged: 57, removed: 3, isComplete: true });
    expect(second.keys).toEqual({ from: 61, to: 61 });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("writes the due entries of images, claims and pending work", async () => {
    const from = createMemoryBlobStore();
    const id = await anImage(from, "x", { expiresAt: 5000 });
    const pending = await anImage(from, "x", {
      createdAt: 7,
      processing: { tries: 0, leaseUntil: 7, worker: null },
    });
    const deleted = await anImage(from, "x", { gone: { at: 3000, why: "deleted" } });
    await from.put(
      "idempotency/abc",
      Buffer.from(JSON.stringify({ fingerprint: "00", id: pending, createdAt: 1000, heldUntil: 0 })),
    );
    await createDueList(from, "clock").add({ id: "seen", dueMs: 42 });
    const to = createMemoryBlobStore();
    await migrate(from, to);
    const due = (list: string) => createDueList(to, list).due(Number.POSITIVE_INFINITY, 1000);
    expect(await due("images")).toEqual(
      expect.arrayContaining([
        { id, dueMs: 5000 },
        { id: deleted, dueMs: 3000 },
      ]),
    );
    expect(await due("jobs")).toEqual([{ id: pending, dueMs: 7 }]);
    expect(await due("claims")).toEqual([{ id: "abc", dueMs: 86_401_000 }]);
    expect(await due("clock")).toEqual([{ id: "seen", dueMs: 42 }]);
  });

  it("writes no record to the target before its original, even for an image added meanwhile", async () => {
    const from = await stocked(5);
    const to = createMemoryBlobStore();
    let late = 0;
    const watching: BlobStore = {
      ...to,
      async put(key, body, options) {
        if (key.endsWith("/record")) {
          expect(await to.stat(key.replace("/record", "/original"))).not.toBeNull();
          if (late++ === 0) await anImage(from, "late");
        }
        return to.put(key, body, options);
      },
    };
    expect(await migrate(from, watching)).toMatchObject({ isComplete: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("leaves out renditions with withRenditions: false, and removes those of deleted images", async () => {
    const from = await stocked(3);
    const to = createMemoryBlobStore();
    const report = await migrate(from, to, { withRenditions: false });
    expect(report).toMatchObject({ copied: 6, keys: { from: 6, to: 6 }, isComplete: true });
    await migrate(from, to);
    const id = (await from.list("")).keys[0]?.split("/")[0] ?? "";
    for (const part of ["record", "original", "renditions/x.webp"]) await from.delete(`${id}/${part}`);
    expect(await migrate(from, to, { withRenditions: false })).toMatchObject({
      removed: 3,
      isComplete: true,
    });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("reports keys that the source has lost or changed, and copies the others", async () => {
    const from = await stocked(3);
    const [lost = "", changed = ""] = (await from.list("")).keys.filter((key) => key.endsWith("/original"));
    await from.delete(lost);
    await from.put(changed, Buffer.from("something else"));
    const strange = [`${createImageId()}/record`, "idempotency/abc"];
    for (const key of strange) await from.put(key, Buffer.from("{"));
    const to = createMemoryBlobStore();
    const { damaged, isComplete } = await migrate(from, to);
    expect(isComplete).toBe(true);
    expect(damaged.map(({ key }) => key).sort()).toEqual([lost, changed, ...strange].sort());
    expect(damaged.find(({ key }) => key === lost)?.reason).toContain("is missing");
    expect(damaged.find(({ key }) => key === changed)?.reason).toContain("the source has 14");
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("with verify, copies again a blob whose bytes changed at the target but not its size", async () => {
    const from = await stocked(2);
    const to = createMemoryBlobStore();
    await migrate(from, to);
    const key = (await to.list("")).keys.find((each) => each.endsWith("/original")) ?? "";
    await to.put(key, randomBytes(100));
    expect(await migrate(from, to)).toMatchObject({ copied: 0 });
    expect(await migrate(from, to, { verify: true })).toMatchObject({ copied: 1, isComplete: true });
    expect(await contentOf(to)).toEqual(await contentOf(from));
  });

  it("is incomplete if the target returns other bytes than it was sent", async () => {
    const from = await stocked(3);
    const to = createMemoryBlobStore();
    const [bad = ""] = (await from.list("")).keys.filter((key) => key.endsWith("/original"));
    const lying: BlobStore = {
      ...to,
      async get(key, options) {
        const blob = await to.get(key, options);
        return key === bad && blob !== null ? { ...blob, body: Readable.from([randomBytes(100)]) } : blob;
      },
    };
    const { failed, isComplete } = await migrate(from, lying);
    const reason = expect.stringContaining("is not what was sent");
    const record = bad.replace("/original", "/record");
    expect({ failed, isComplete }).toEqual({
      failed: [
        { key: bad, reason },
        { key: record, reason },
      ],
      isComplete: false,
    });
    expect([await to.stat(bad), await to.stat(record)]).toEqual([null, null]);
    expect(await readMigrationMark(to)).toMatchObject({ finishedAt: null });
  });

  it("retries an unavailable store for at most patienceMs", async () => {
    const from = await stocked(4);
    const to = createMemoryBlobStore();
    let failures = 0;
    let hasReturned = false;
    const away = () => {
      if (hasReturned) return;
      failures++;
      throw new ServiceError("store_unavailable", "The store is away");
    };
    const failing: BlobStore = {
      ...to,
      put: async (key, body, options) => {
        if (key.endsWith("/original")) away();
        return to.put(key, body, options);
      },
      stat: async (key) => {
        if (failures > 0) away();
        return to.stat(key);
      },
    };
    await expect(migrate(from, failing, { patienceMs: 500 })).rejects.toMatchObject({
      message: "The store is away",
    });
    expect(await readMigrationMark(to)).toMatchObject({ source: SOURCE, finishedAt: null });
    setTimeout(() => {
      hasReturned = true;
    }, 300);
    expect(await migrate(from, failing)).toMatchObject({ isComplete: true });
  });

  it("starts no further key after an abort, and the next run continues", async () => {
    const from = await stocked(30);
    const to = createMemoryBlobStore();
    const controller = new AbortController();
    const phases = new Set<StorageProgress["phase"]>();
    const onProgress = ({ keys, phase }: StorageProgress) => {
      phases.add(phase);
      if (keys === 10) controller.abort(new Error("Enough"));
    };
    const options = { signal: controller.signal, onProgress, concurrency: 3 };
    await expect(migrate(from, to, options)).rejects.toThrow("Enough");
    const arrived = (await contentOf(to)).size;
    expect(arrived).toBeGreaterThanOrEqual(10);
    expect(arrived).toBeLessThanOrEqual(13);
    const { copied, unchanged } = await migrate(from, to, { onProgress: ({ phase }) => phases.add(phase) });
    expect([copied, unchanged]).toEqual([90 - arrived, arrived]);
    expect([...phases]).toEqual(["counting", "originals", "renditions", "records", "comparing"]);
  });

  it.each([
    ["a target with images of its own", () => stocked(1), "the target is not empty"],
    [
      "a target copied from another source",
      () => copiedFrom("elsewhere"),
      "copied from another source (elsewhere)",
    ],
    ["a target used since the last run", usedSince, "has been in use"],
  ])("rejects %s", async (_, target, reason) => {
    const to = await target();
    const before = await contentOf(to);
    await expect(migrate(await stocked(1), to)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(reason),
    });
    expect(await contentOf(to)).toEqual(before);
  });

  it("rejects an empty source for a filled target, an unfinished source, and the same store on both sides", async () => {
    const to = await copiedFrom(SOURCE);
    await expect(migrate(createMemoryBlobStore(), to)).rejects.toThrow("the source has no images");
    const half = createMemoryBlobStore();
    await half.put("migration/state", Buffer.from(JSON.stringify({ source: SOURCE, finishedAt: null })));
    await expect(migrate(half, createMemoryBlobStore())).rejects.toThrow("is itself the target");
    const empty = createMemoryBlobStore();
    await expect(migrate(empty, { ...empty })).rejects.toThrow("the same store is on both sides");
  });
});

async function copiedFrom(source: string): Promise<BlobStore> {
  const to = createMemoryBlobStore();
  await migrate(await stocked(1), to, { source });
  return to;
}

async function usedSince(): Promise<BlobStore> {
  const to = await copiedFrom(SOURCE);
  await createDueList(to, "clock").add({ id: "seen", dueMs: 1 });
  return to;
}
