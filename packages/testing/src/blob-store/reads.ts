import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type BlobStore, isDirectReadable, type StoredBlob } from "@outrigger/core/stores";
import { assertBytes, assertRejects, assertSame, type BlobStoreScope, readAll, someBytes } from "./scope.ts";

/** Results of `get`, also while the blob changes. */
export function readsBehaviour({ test, largestBytes }: BlobStoreScope): void {
  test("get with a range returns exactly those bytes, and the size of the whole blob", async (store, key) => {
    const bytes = someBytes(200_000);
    const { revision } = await store.put(key, bytes);
    for (const [start, end] of [
      [0, 0],
      [0, 199_999],
      [199_999, 199_999],
      [65_535, 65_536],
      [1000, 150_000],
    ] as const) {
      const blob = await found(store, key, { start, end });
      assert.deepEqual({ size: blob.size, revision: blob.revision }, { size: 200_000, revision });
      assertSame(await readAll(blob.body), bytes.subarray(start, end + 1));
    }
  });

  test("get cuts a range that ends beyond the blob", async (store, key) => {
    const bytes = someBytes(1000);
    await store.put(key, bytes);
    for (const end of [999, 1000, 5000, Number.MAX_SAFE_INTEGER]) {
      const blob = await found(store, key, { start: 990, end });
      assertSame(await readAll(blob.body), bytes.subarray(990));
    }
  });

  test("get rejects a range that is invalid or begins beyond the blob", async (store, key) => {
    await store.put(key, someBytes(1000));
    for (const [start, end] of [
      [1000, 1000],
      [1001, 2000],
      [5, 4],
      [-1, 5],
      [0.5, 5],
      [0, Number.NaN],
    ] as const) {
      await assertRejects(() => store.get(key, { range: { start, end } }), "bad_request", `${start}-${end}`);
    }
    await store.put(key, someBytes(0));
    await assertRejects(() => store.get(key, { range: { start: 0, end: 0 } }), "bad_request");
  });

  test("a body that reads into given memory has the bytes of the blob or range, and then ends", async (store, key) => {
    const bytes = someBytes(largestBytes);
    await store.put(key, bytes);
    for (const range of [undefined, { start: 1000, end: largestBytes - 1000 }]) {
      const { body } = await found(store, key, range);
      // An optional ability.
      if (Buffer.isBuffer(body) || !isDirectReadable(body)) continue;
      const [target, parts] = [Buffer.alloc(100_000), [] as Buffer[]];
      const closed = ended(body.resume());
      for (let count = await body.readInto(target); count; count = await body.readInto(target)) {
        parts.push(Buffer.from(target.subarray(0, count)));
      }
      assertSame(Buffer.concat(parts), range ? bytes.subarray(range.start, range.end + 1) : bytes);
      await closed;
      assert.equal(body.readableEnded, true);
      const { body: read } = await found(store, key, range);
      assert.ok(!Buffer.isBuffer(read) && isDirectReadable(read));
      for await (const chunk of read) {
        assert.ok(chunk.length > 0);
        assert.equal(read.readInto(target), null);
        break;
      }
    }
  });

  test("the body of a get can be destroyed unread", async (store, key) => {
    const bytes = someBytes(largestBytes);
    await store.put(key, bytes);
    for (let turn = 0; turn < 20; turn++) {
      const { body } = await found(store, key);
      if (body instanceof Readable) await ended(body.destroy());
    }
    for (let turn = 0; turn < 5; turn++) {
      const { body } = await found(store, key);
      if (!(body instanceof Readable)) continue;
      for await (const chunk of body) {
        assert.ok(chunk.length > 0);
        break; // Leaving the loop destroys the stream.
      }
      await ended(body);
    }
    await assertBytes(store, key, bytes);
  });

  test("a body that is being read stays complete when the blob is replaced or deleted", async (store, key) => {
    const old = someBytes(largestBytes);
    await store.put(key, old);
    const beforeReplace = await found(store, key);
    const part = await found(store, key, { start: 100, end: largestBytes - 100 });
    await store.put(key, someBytes(1000));
    assertSame(await readAll(beforeReplace.body), old);
    assertSame(await readAll(part.body), old.subarray(100, largestBytes - 99));
    await store.put(key, old);
    const beforeDelete = await found(store, key);
    await store.delete(key);
    assertSame(await readAll(beforeDelete.body), old);
  });

  test("a reader sees the complete old or the complete new bytes during replacements", async (store, key) => {
    const sizes = [10_000, 150_000, 400_000];
    let version = 1;
    const put = () => store.put(key, Buffer.alloc(sizes[version % 3] ?? 0, version));
    await put();
    let isWriting = true;
    let newest = 1;
    async function read(): Promise<void> {
      while (isWriting) {
        await nextTurn();
        const atLeast = newest;
        const blob = await found(store, key);
        const bytes = await readAll(blob.body);
        const first = bytes[0] ?? 0;
        assert.equal(bytes.length, blob.size);
        assertSame(bytes, Buffer.alloc(sizes[first % 3] ?? 0, first));
        assert.ok(first >= atLeast, `version ${first} after ${atLeast} was there`);
      }
    }
    const readers = Array.from({ length: 3 }, read);
    try {
      for (version = 2; version <= 60; version++) {
        await put();
        newest = version;
      }
    } finally {
      isWriting = false;
    }
    await Promise.all(readers);
  });
}

async function found(
  store: BlobStore,
  key: string,
  range?: { start: number; end: number },
): Promise<StoredBlob> {
  const blob = await store.get(key, range === undefined ? {} : { range });
  assert.ok(blob !== null, "there is no blob");
  return blob;
}

/** Resolves when a destroyed stream has released its resources. */
async function ended(stream: Readable): Promise<void> {
  if (!stream.closed) await new Promise((resolve) => stream.once("close", resolve));
}
