import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { blobStoreContract } from "@outrigger/testing";
import { expect, test } from "vitest";
import { createMemoryBlobStore } from "./memory-blob-store.ts";

blobStoreContract(test, async () => createMemoryBlobStore(), { abilities: ["probe"] });

test("a memory store rejects a buffer and a stream larger than its free space, and stays usable", async () => {
  const store = createMemoryBlobStore({ maxBytes: 100_000 });
  await store.put("a", Buffer.alloc(60_000));
  for (let turn = 0; turn < 3; turn++) {
    await expect(store.put("b", Buffer.alloc(40_001))).rejects.toMatchObject({ code: "no_space" });
    const endless = Readable.from(forever());
    await expect(store.put("b", endless)).rejects.toMatchObject({ code: "no_space" });
    assert.ok(endless.destroyed);
  }
  assert.equal(await store.stat("b"), null);
  await store.put("b", Buffer.alloc(40_000));
  await store.delete("a");
  await store.put("c", Buffer.alloc(60_000));
  await expect(store.put("d", Buffer.alloc(1))).rejects.toMatchObject({ code: "no_space" });
});

test("a memory store frees the space of conflicting, failed and replaced writes", async () => {
  const store = createMemoryBlobStore({ maxBytes: 1000 });
  for (let turn = 0; turn < 20; turn++) {
    const { revision } = await store.put("a", Buffer.alloc(400));
    await expect(store.put("a", Buffer.alloc(400), { ifRevision: null })).rejects.toMatchObject({
      code: "conflict",
    });
    const trouble = new Error("gone");
    await expect(store.put("a", Readable.from(failing(trouble)))).rejects.toBe(trouble);
    const aborter = new AbortController();
    const put = store.put("a", Buffer.alloc(400), { ifRevision: revision, signal: aborter.signal });
    aborter.abort(trouble);
    await expect(put).rejects.toBe(trouble);
  }
  await store.delete("a");
  await store.put("a", Buffer.alloc(1000));
});

test("two memory stores share neither blobs nor revisions", async () => {
  const [one, other] = [createMemoryBlobStore(), createMemoryBlobStore()];
  const { revision } = await one.put("a", Buffer.from("1"));
  await other.put("a", Buffer.from("1"));
  assert.equal(other.isCurrent("a", revision), false);
  await expect(other.put("a", Buffer.from("2"), { ifRevision: revision })).rejects.toMatchObject({
    code: "conflict",
  });
});

test("a write rejects if the memory store is closed during its body", async () => {
  const store = createMemoryBlobStore();
  const put = store.put("a", Readable.from([Buffer.from("late")]));
  await store.close();
  await expect(put).rejects.toMatchObject({ code: "store_unavailable" });
});

test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
  "creating a memory store with maxBytes %s throws",
  (maxBytes) => {
    expect(() => createMemoryBlobStore({ maxBytes })).toThrow(TypeError);
  },
);

async function* forever(): AsyncGenerator<Buffer> {
  for (;;) yield Buffer.alloc(10_000);
}

async function* failing(error: Error): AsyncGenerator<Buffer> {
  yield Buffer.alloc(300);
  throw error;
}
