import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { isError } from "@outrigger/core/values";
import {
  assertBytes,
  assertRejects,
  assertSame,
  type BlobStoreScope,
  bytesAt,
  failure,
  isDone,
  someBytes,
  streamOf,
  unendingStream,
} from "./scope.ts";

/** `put` and `delete`, and the state after they fail. */
export function writesBehaviour({ test, largestBytes }: BlobStoreScope): void {
  for (const size of [0, 1, 65_536, largestBytes]) {
    test(`put stores ${size} bytes given as a buffer and as a stream`, async (store, key) => {
      for (const body of [(bytes: Buffer) => bytes, streamOf]) {
        const bytes = someBytes(size);
        assert.equal((await store.put(key, body(bytes))).size, size);
        await assertBytes(store, key, bytes);
      }
    });
  }

  test("put of a blob that may be lost stores all bytes, and holds its condition", async (store, key) => {
    const [old, bytes] = [someBytes(1000), someBytes(70_000)];
    const { revision } = await store.put(key, old, { mayBeLost: true, ifRevision: null });
    await assertRejects(() => store.put(key, bytes, { mayBeLost: true, ifRevision: null }), "conflict");
    await assertBytes(store, key, old);
    await store.put(key, streamOf(bytes), { mayBeLost: true, ifRevision: revision });
    await assertBytes(store, key, bytes);
  });

  test("put stores a view of a larger buffer, and only the view", async (store, key) => {
    const whole = someBytes(1000);
    await store.put(key, new Uint8Array(whole.buffer, whole.byteOffset + 100, 300));
    await assertBytes(store, key, whole.subarray(100, 400));
  });

  test("put, get and stat return the same size and revision", async (store, key) => {
    const info = await store.put(key, someBytes(100));
    const { size, revision } = info;
    assert.deepEqual(await store.stat(key), { size, revision });
    const blob = await store.get(key);
    assert.deepEqual({ size: blob?.size, revision: blob?.revision }, { size: 100, revision });
  });

  test("a blob can be replaced by longer and shorter bytes, with a new revision each time", async (store, key) => {
    const revisions = new Set<string>();
    for (const size of [1000, 70_000, 3, 0, 3]) {
      const bytes = someBytes(size);
      revisions.add((await store.put(key, bytes)).revision);
      await assertBytes(store, key, bytes);
    }
    assert.equal(revisions.size, 5);
  });

  test("storing the same bytes again creates a new revision", async (store, key) => {
    const bytes = someBytes(36);
    const revisions = new Set<string>();
    for (let turn = 0; turn < 20; turn++) revisions.add((await store.put(key, bytes)).revision);
    assert.equal(revisions.size, 20);
  });

  test("get and stat return null, and delete returns false, for a missing key", async (store, key) => {
    assert.equal(await store.get(key), null);
    assert.equal(await store.get(key, { range: { start: 0, end: 0 } }), null);
    assert.equal(await store.stat(key), null);
    assert.equal(await store.delete(key), false);
  });

  test("delete returns true once, then false", async (store, key) => {
    await store.put(key, someBytes(10));
    assert.equal(await store.delete(key), true);
    assert.equal(await store.get(key), null);
    assert.equal(await store.stat(key), null);
    assert.equal(await store.delete(key), false);
  });

  test("a blob and the blobs below its key are independent", async (store, key) => {
    const [upper, lower] = [someBytes(10), someBytes(20)];
    await store.put(`${key}/a`, upper);
    await store.put(`${key}/a/b`, lower);
    await assertBytes(store, `${key}/a`, upper);
    assert.equal(await store.delete(`${key}/a`), true);
    await assertBytes(store, `${key}/a/b`, lower);
    await store.put(`${key}/a`, upper);
    assert.equal(await store.delete(`${key}/a/b`), true);
    await assertBytes(store, `${key}/a`, upper);
  });

  test("stored and returned bytes share no memory with the caller", async (store, key) => {
    const bytes = someBytes(5000);
    const original = Buffer.from(bytes);
    await store.put(key, bytes);
    bytes.fill(0);
    const read = await bytesAt(store, key);
    assertSame(read, original);
    read?.fill(0);
    await assertBytes(store, key, original);
  });

  test("put rejects with the error of a failing body and keeps the old state", async (store, key) => {
    const trouble = new Error("the sender is gone");
    async function* failing(): AsyncGenerator<Buffer> {
      yield someBytes(200_000);
      throw trouble;
    }
    assert.equal(await failure(() => store.put(key, Readable.from(failing()))), trouble);
    assert.equal(await store.get(key), null);
    const old = someBytes(100);
    const { revision } = await store.put(key, old);
    assert.equal(await failure(() => store.put(key, Readable.from(failing()))), trouble);
    assert.equal((await store.stat(key))?.revision, revision);
    await assertBytes(store, key, old);
  });

  test("put rejects with the error of a body that failed before it was read", async (store, key) => {
    const trouble = new Error("gone already");
    const body = unendingStream(someBytes(10));
    const rejected = failure(() => store.put(key, body));
    body.destroy(trouble);
    assert.equal(await rejected, trouble);
    assert.equal(await store.get(key), null);
  });

  test("put rejects a body that was cut off, rather than storing its first part", async (store, key) => {
    const body = unendingStream(someBytes(100_000), () => body.destroy());
    const destroyed = unendingStream(someBytes(10)).destroy();
    for (const cut of [body, destroyed]) {
      const error = await failure(() => store.put(key, cut));
      assert.equal(isError(error) && "code" in error && error.code, "ERR_STREAM_PREMATURE_CLOSE");
    }
    assert.equal(await store.get(key), null);
  });

  test("put changes nothing if the signal is already aborted", async (store, key) => {
    const reason = new Error("not wanted");
    const signal = AbortSignal.abort(reason);
    const body = unendingStream(someBytes(10));
    assert.equal(await failure(() => store.put(key, body, { signal })), reason);
    assert.ok(isDone(body));
    assert.equal(await failure(() => store.put(key, someBytes(10), { signal })), reason);
    assert.equal(await failure(() => store.get(key, { signal })), reason);
    assert.equal(await store.stat(key), null);
  });

  test("put keeps the old state if the signal aborts during the body", async (store, key) => {
    const old = someBytes(100);
    const { revision } = await store.put(key, old);
    const aborter = new AbortController();
    const reason = new Error("the client left");
    const body = unendingStream(someBytes(300_000), () => aborter.abort(reason));
    assert.equal(await failure(() => store.put(key, body, { signal: aborter.signal })), reason);
    assert.ok(isDone(body));
    assert.equal((await store.stat(key))?.revision, revision);
    await assertBytes(store, key, old);
  });

  test("put either stores the blob or rejects with the signal's reason, whenever the signal aborts", async (store, key) => {
    let expected: Buffer | null = null;
    for (let ticks = 0; ticks < 40; ticks++) {
      const bytes = someBytes(2000);
      const aborter = new AbortController();
      const reason = new Error("too late");
      const outcome = store
        .put(key, ticks % 2 === 0 ? bytes : streamOf(bytes), { signal: aborter.signal })
        .then(
          () => null,
          (error: unknown) => error,
        );
      for (let tick = 0; tick < ticks; tick++) await new Promise(setImmediate);
      aborter.abort(reason);
      const error = await outcome;
      if (error === null) expected = bytes;
      else assert.equal(error, reason);
      if (expected === null) assert.equal(await store.get(key), null);
      else await assertBytes(store, key, expected);
    }
    // The first aborts come before anything can have happened.
    const aborter = new AbortController();
    const rejected = failure(() => store.put(key, someBytes(10), { signal: aborter.signal }));
    aborter.abort("at once");
    assert.equal(await rejected, "at once");
  });

  test("put consumes or destroys the body that it rejects", async (store, key) => {
    await store.put(key, someBytes(10));
    const ends = streamOf(someBytes(100));
    await assertRejects(() => store.put(key, ends, { ifRevision: null }), "conflict");
    assert.ok(isDone(ends));
    // A body that never ends: put rejects before it reads it, or when the signal aborts.
    const aborter = new AbortController();
    const unending = unendingStream(someBytes(100), () => aborter.abort());
    await failure(() => store.put(key, unending, { ifRevision: null, signal: aborter.signal }));
    assert.ok(isDone(unending));
    const nowhere = unendingStream(someBytes(100));
    await assertRejects(() => store.put("../x", nowhere), "bad_request");
    assert.ok(isDone(nowhere));
    await store.close();
    const late = unendingStream(someBytes(100));
    await assertRejects(() => store.put(key, late), "store_unavailable");
    assert.ok(isDone(late));
  });
}
