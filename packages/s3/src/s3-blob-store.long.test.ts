import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { blobStoreContract, dueIndexContract, leaseStoreContract } from "@outrigger/core/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type S3Server, startS3Server } from "../../../test/support/s3-server.ts";
import { createS3BlobStore } from "./s3-blob-store.ts";
import type { S3BlobStoreOptions } from "./s3-options.ts";

const TEST_MS = 60_000;

let server: S3Server;
let bucket: string;
beforeAll(async () => {
  server = await startS3Server();
  bucket = await server.createBucket();
});
afterAll(() => server.stop());

/** A store with a generous time limit: these tests do not test time limits, and the machine may be busy. */
function createStore(options: Partial<S3BlobStoreOptions> = {}) {
  const { endpoint, credentials } = server;
  return createS3BlobStore({ bucket, timeoutMs: 10_000, endpoint, credentials, ...options });
}

describe("an S3 store with bodies in memory", () => {
  const create = async () => createStore({ prefix: "contract/" });
  const withTime = (name: string, body: () => Promise<void>) => test.concurrent(name, body, TEST_MS);
  blobStoreContract(withTime, create, { abilities: ["due index"], listedKeys: 100 });
  dueIndexContract(withTime, create, { entries: 1500, reopen: create });
  leaseStoreContract(withTime, create, { openAnother: create, leaseMs: 3000 });
});

describe("an S3 store with streamed bodies in files", () => {
  const create = async () => createStore({ prefix: "spooled/", bufferBytes: 0 });
  const withTime = (name: string, body: () => Promise<void>) => test.concurrent(name, body, TEST_MS);
  blobStoreContract(withTime, create, { abilities: ["due index"], listedKeys: 300 });
});

test(
  "exactly one of 400 concurrent creates of a key by two stores succeeds",
  async () => {
    const stores = [createStore(), createStore()];
    const creates = Array.from({ length: 400 }, (_, index) =>
      stores[index % 2]?.put("raced", Buffer.from(`${index}`), { ifRevision: null }),
    );
    const results = await Promise.allSettled(creates);
    const winners = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    expect(winners).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "conflict" });
    }
    expect(String((await stores[0]?.get("raced"))?.body)).toBe(String(winners[0]));
    for (const store of stores) await store.close();
  },
  TEST_MS,
);

test(
  "a 96 MiB blob streams in and out with less than 32 MiB of memory",
  async () => {
    const store = createStore({ bufferBytes: 1024 * 1024 });
    const chunk = randomBytes(65_536);
    const chunks = 1536;
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    const usedBytes = () => {
      collectGarbage();
      return process.memoryUsage().arrayBuffers;
    };
    const beforeBytes = usedBytes();
    let peakBytes = 0;
    const measure = (turn: number) => {
      if (turn % 64 === 0) peakBytes = Math.max(peakBytes, usedBytes() - beforeBytes);
    };
    function* body() {
      for (let turn = 0; turn < chunks; turn++) {
        measure(turn);
        yield chunk;
      }
    }
    const { size } = await store.put("large", Readable.from(body(), { objectMode: false }), {
      ifRevision: null,
    });
    const stream = (await store.get("large"))?.body;
    if (!(stream instanceof Readable)) throw new Error("The body is not a stream");
    let received = 0;
    let isSame = true;
    for await (const part of stream) {
      measure(Math.floor(received / chunk.length));
      const at = received % chunk.length;
      const comparable = Math.min(part.length, chunk.length - at);
      isSame &&= part.subarray(0, comparable).equals(chunk.subarray(at, at + comparable));
      received += part.length;
    }
    expect([received, isSame]).toEqual([size, true]);
    expect(size).toBe(chunk.length * chunks);
    // Memory freed a moment ago may still be counted.
    expect(peakBytes).toBeLessThan(32 * 2 ** 20);
    await store.close();
  },
  TEST_MS,
);
