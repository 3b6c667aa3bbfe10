import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { type ErrorCode, isServiceError } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";

/**
 * The scope of each part of the suite: the runner's test, with its own store and a key that no other case
 * uses.
 */
export interface BlobStoreScope {
  test(name: string, body: (store: BlobStore, key: string) => Promise<void>): void;
  largestBytes: number;
  listedKeys: number;
}

/** The blob's bytes, from a Buffer or a stream; `null` if the key does not exist. */
export async function bytesAt(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.get(key);
  return blob === null ? null : readAll(blob.body);
}

/** The bytes of a blob's body as one Buffer. */
export async function readAll(body: Buffer | Readable): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer); // A store's streams yield Buffers.
  return Buffer.concat(chunks);
}

/** Compares the bytes of a blob without printing megabytes on a difference. */
export async function assertBytes(store: BlobStore, key: string, expected: Uint8Array): Promise<void> {
  assertSame(await bytesAt(store, key), expected);
}

export function assertSame(actual: Uint8Array | null, expected: Uint8Array): void {
  assert.ok(actual !== null, "there is no blob");
  assert.ok(
    Buffer.compare(actual, expected) === 0,
    `${actual.length} bytes are not the ${expected.length} stored`,
  );
}

export async function assertRejects(
  work: () => Promise<unknown>,
  code: ErrorCode,
  hint?: string,
): Promise<void> {
  const error = await failure(work);
  assert.ok(isServiceError(error, code), `${hint ?? "it"} rejected with ${String(error)} instead of ${code}`);
}

/** The error that `work` rejects with. */
export async function failure(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  assert.fail("it resolved");
}

/** The index of the only write of a race that succeeded; all others must have rejected with conflict. */
export function winnerOf(results: readonly PromiseSettledResult<unknown>[]): number {
  const winners: number[] = [];
  for (const [racer, result] of results.entries()) {
    if (result.status === "fulfilled") winners.push(racer);
    else assert.ok(isServiceError(result.reason, "conflict"), `lost with ${result.reason}`);
  }
  assert.equal(winners.length, 1, `winners: ${winners}`);
  return winners[0] ?? -1;
}

/** Stores a blob at each key, twenty at a time. */
export async function storeAll(store: BlobStore, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += 20) {
    await Promise.all(keys.slice(at, at + 20).map((key) => store.put(key, Buffer.from("x"))));
  }
}

/** All keys, read in pages of at most `limit`. */
export async function readKeys(
  limit: number,
  read: (page: { limit: number; cursor?: string }) => ReturnType<BlobStore["list"]>,
): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await read({ limit, ...(cursor !== undefined && { cursor }) });
    assert.ok(page.keys.length <= limit);
    keys.push(...page.keys);
    assert.notEqual(page.cursor, cursor ?? "", "the cursor does not move");
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

export function someBytes(size: number): Buffer {
  return randomBytes(size);
}

/** A stream of `bytes` in chunks of uneven length. */
export function streamOf(bytes: Uint8Array): Readable {
  function* pieces(): Generator<Buffer> {
    const sizes = [1, 16_384, 65_536, 7, 40_000];
    for (let at = 0, turn = 0; at < bytes.length; turn++) {
      const size = sizes[turn % sizes.length] ?? 1;
      yield Buffer.from(bytes.subarray(at, at + size));
      at += size;
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}

/** A stream that yields `bytes` and then neither ends nor fails. `onRead` runs once, after the first read. */
export function unendingStream(bytes: Uint8Array, onRead?: () => void): Readable {
  let given = false;
  return new Readable({
    read() {
      if (given) return;
      given = true;
      this.push(bytes);
      if (onRead !== undefined) setImmediate(onRead);
    },
  });
}

/** Whether a stream has ended or was destroyed. */
export function isDone(stream: Readable): boolean {
  return stream.destroyed || stream.readableEnded;
}
