import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ListMultipartUploadsCommand, ListObjectsV2Command } from "@aws-sdk/client-s3";
import { blobStoreContract, dueIndexContract, leaseStoreContract } from "@outrigger/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type S3Access, useS3Server } from "../../../test/support/s3-server.ts";
import { partOf } from "../../../test/support/soak.ts";
import { clientOf } from "../test/s3-client.ts";
import { createS3BlobStore, openStore } from "./s3-blob-store.ts";
import { type S3BlobStoreOptions, type SpoolSettings, settingsOf } from "./s3-options.ts";

let server: S3Access;
let bucket: string;
beforeAll(async () => {
  server = await useS3Server();
  bucket = await server.createBucket();
});
afterAll(() => server.stop());

/** A store with a generous time limit: these tests do not test time limits, and the machine may be busy. */
function createStore({
  bufferBytes,
  spoolDirectory,
  ...options
}: Partial<S3BlobStoreOptions & SpoolSettings> = {}) {
  const { endpoint, credentials } = server;
  const line = options.client === undefined ? { endpoint, credentials } : {};
  const settings = settingsOf({ bucket, timeoutMs: 60_000, ...line, ...options });
  return openStore({ ...settings, bufferBytes: bufferBytes ?? settings.bufferBytes, spoolDirectory });
}

/** More entries than S3 lists in one page, in a nightly run. */
const [entries = 0] = partOf<number>([1500], [200]);

describe("an S3 store with bodies in memory", () => {
  const create = async () => createStore({ prefix: "contract/" });
  const withTime = (name: string, body: () => Promise<void>) => test.concurrent(name, body);
  blobStoreContract(withTime, create, { abilities: ["due index", "ranges"], listedKeys: 100 });
  dueIndexContract(withTime, create, { entries, reopen: create });
  leaseStoreContract(withTime, create, { openAnother: create, leaseMs: 3000 });
});

// The same requests, with bodies that went through a file.
describe.each(partOf(["files"], []))("an S3 store with streamed bodies in %s", () => {
  const create = async () => createStore({ prefix: "spooled/", bufferBytes: 0 });
  const withTime = (name: string, body: () => Promise<void>) => test.concurrent(name, body);
  blobStoreContract(withTime, create, { abilities: ["due index", "ranges"], listedKeys: 300 });
});

test("exactly one of 400 concurrent creates of a key by two stores succeeds", async () => {
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
});

test("a 96 MiB blob streams in and out with less than 32 MiB of memory", async () => {
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
});

test("a put whose body fails leaves no object and no multipart upload", async () => {
  const prefix = "failing/";
  const store = createStore({ prefix, bufferBytes: 1000 });
  const trouble = new Error("gone");
  async function* failing() {
    for (let turn = 0; turn < 200; turn++) yield randomBytes(65_536);
    throw trouble;
  }
  await expect(store.put("a", Readable.from(failing()))).rejects.toBe(trouble);
  const { client } = server;
  expect((await client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: prefix }))).KeyCount).toBe(0);
  expect((await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? []).toEqual([]);
  await store.close();
});

test("a spool file has no name, and a missing spool directory is reported as store_unavailable", async () => {
  const spoolDirectory = await mkdtemp(join(tmpdir(), "outrigger-spool-"));
  const store = createStore({ bufferBytes: 1000, spoolDirectory });
  async function* body() {
    yield randomBytes(5000);
    yield randomBytes(5000);
    expect(await readdir(spoolDirectory)).toEqual([]);
    yield randomBytes(5000);
  }
  expect((await store.put("a", Readable.from(body()))).size).toBe(15_000);
  await rm(spoolDirectory, { recursive: true });
  await expect(store.put("a", Readable.from(body()))).rejects.toMatchObject({
    code: "store_unavailable",
    message: "The spool directory cannot be used (ENOENT)",
  });
  await store.close();
});

test("a body of one-byte chunks is stored correctly, in memory and through a file", async () => {
  const bytes = randomBytes(30_000);
  function* pieces() {
    for (const byte of bytes) yield Buffer.of(byte);
  }
  for (const bufferBytes of [100_000, 10_000]) {
    const tiny = createStore({ bufferBytes });
    await tiny.put("tiny", Readable.from(pieces(), { objectMode: false }));
    expect((await tiny.get("tiny"))?.body).toEqual(bytes);
    await tiny.close();
  }
});

test("stores with different prefixes in one bucket share no blobs and no due entries", async () => {
  const [one, other] = [createStore({ prefix: "one/" }), createStore({ prefix: "two/deep/" })];
  await one.put("key", Buffer.from("1"));
  await one.addDue("list", { id: "x", dueMs: 1 });
  expect(await other.get("key")).toBeNull();
  expect(await other.list("")).toEqual({ keys: [] });
  expect(await other.listDue("list", 10, 10)).toEqual([]);
  expect(await one.list("")).toEqual({ keys: ["key"] });
  await one.close();
  await other.close();
});

describe("conditional writes of an S3 service", () => {
  test("are probed, and the probe object is deleted", async () => {
    const store = createStore();
    expect(await store.capabilities()).toEqual({ conditionalCreate: true, compareAndSet: true });
    expect(
      (await server.client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: "probe/" }))).KeyCount,
    ).toBe(0);
    await store.close();
  });

  test("send the ETag in the form that the service accepts, with or without quotes", async () => {
    const client = clientOf(server, "build", ({ headers }) => {
      const etag = headers["if-match"];
      if (etag !== undefined) headers["if-match"] = etag.startsWith('"') ? etag.slice(1, -1) : `"${etag}"`;
    });
    const store = createStore({ client, prefix: "quoted/" });
    const { revision } = await store.put("a", Buffer.from("1"), { ifRevision: null });
    await store.put("a", Buffer.from("2"), { ifRevision: revision });
    await expect(store.put("a", Buffer.from("3"), { ifRevision: revision })).rejects.toMatchObject({
      code: "conflict",
    });
    await store.close();
    // A client passed as an option stays open.
    await client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 }));
    client.destroy();
  });
});

test("createS3BlobStore throws a TypeError that names the invalid option", () => {
  for (const [options, name] of [
    [{ bucket: "" }, "bucket"],
    [{ prefix: "a" }, "prefix"],
    [{ prefix: "/" }, "prefix"],
    [{ prefix: "a/../" }, "prefix"],
    [{ timeoutMs: 0 }, "timeoutMs"],
    [{ client: server.client, region: "x" }, "region"],
  ] as const) {
    expect(() => createS3BlobStore({ bucket: "b", ...options }), JSON.stringify(name)).toThrow(name);
  }
});
