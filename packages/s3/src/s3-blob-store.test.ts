import { randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import {
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from "@aws-sdk/client-s3";
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

/** Patient: what is tested here are not time limits, and this machine may be busy. */
function createStore(options: Partial<S3BlobStoreOptions> = {}) {
  const { endpoint, credentials } = server;
  const line = options.client === undefined ? { endpoint, credentials } : {};
  return createS3BlobStore({ bucket, timeoutMs: 10_000, ...line, ...options });
}

describe("with bodies in memory", () => {
  const create = async () => createStore({ prefix: "contract/" });
  const withTime = (name: string, body: () => Promise<void>) => test.concurrent(name, body, TEST_MS);
  blobStoreContract(withTime, create, { abilities: ["due index"], listedKeys: 100 });
  dueIndexContract(withTime, create, { entries: 300, reopen: create });
  leaseStoreContract(withTime, create, { openAnother: create, leaseMs: 3000 });
});

test("a revision does not come back with the bytes that it stood for", async () => {
  const store = createStore();
  const bytes = Buffer.from("the same");
  const first = await store.put("aba", bytes, { ifRevision: null });
  const other = await store.put("aba", Buffer.from("another"), { ifRevision: first.revision });
  const again = await store.put("aba", bytes, { ifRevision: other.revision });
  await expect(store.put("aba", bytes, { ifRevision: first.revision })).rejects.toMatchObject({
    code: "conflict",
  });
  expect((await store.stat("aba"))?.revision).toBe(again.revision);
  await store.close();
});

test("a body that fails leaves no object, no part of one and no file", async () => {
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

test("a file of a body has no name while it is sent", async () => {
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

test("a body in tiny pieces is put together", async () => {
  const bytes = randomBytes(300_000);
  function* pieces() {
    for (const byte of bytes) yield Buffer.of(byte);
  }
  for (const bufferBytes of [1_000_000, 100_000]) {
    const tiny = createStore({ bufferBytes });
    await tiny.put("tiny", Readable.from(pieces(), { objectMode: false }));
    expect((await tiny.get("tiny"))?.body).toEqual(bytes);
    await tiny.close();
  }
});

test("stores with different prefixes share a bucket and nothing else", async () => {
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

test("an object begins with the blob's bytes", async () => {
  const store = createStore({ prefix: "plain/" });
  await store.put("a/b", Buffer.from("readable"));
  const { Body } = await server.client.send(new GetObjectCommand({ Bucket: bucket, Key: "plain/blobs/a/b" }));
  expect((await Body?.transformToString("latin1"))?.slice(0, 8)).toBe("readable");
  await store.close();
});

test("an object that is none of ours is reported, not cut", async () => {
  const store = createStore({ prefix: "foreign/" });
  await server.client.send(new PutObjectCommand({ Bucket: bucket, Key: "foreign/blobs/a", Body: "short" }));
  await expect(store.get("a")).rejects.toMatchObject({ code: "store_unavailable" });
  await expect(store.stat("a")).rejects.toMatchObject({ code: "store_unavailable" });
  await store.close();
});

describe("a service's conditional writes", () => {
  /** A client whose conditions arrive as another service would take them. */
  function clientWith(change: (headers: Record<string, string>) => void): S3Client {
    const client = new S3Client({
      endpoint: server.endpoint,
      region: "us-east-1",
      credentials: server.credentials,
      forcePathStyle: true,
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
    client.middlewareStack.add(
      (next) => (args) => {
        // The request that is about to be signed.
        change((args.request as { headers: Record<string, string> }).headers);
        return next(args);
      },
      { step: "build" },
    );
    return client;
  }

  test("are found out", async () => {
    const store = createStore();
    expect(await store.capabilities()).toEqual({ conditionalCreate: true, compareAndSet: true });
    expect(
      (await server.client.send(new ListObjectsV2Command({ Bucket: bucket, Prefix: "probe/" }))).KeyCount,
    ).toBe(0);
    await store.close();
  });

  test("are used with quotes where it wants them", async () => {
    const client = clientWith((headers) => {
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
    client.destroy();
  });

  test("are refused where it has none, with what to do", async () => {
    const client = clientWith((headers) => {
      delete headers["if-match"];
      delete headers["if-none-match"];
    });
    const store = createStore({ client, prefix: "incapable/" });
    expect(await store.capabilities()).toEqual({ conditionalCreate: false, compareAndSet: false });
    const { revision } = await store.put("a", Buffer.from("1"));
    await expect(store.put("a", Buffer.from("2"), { ifRevision: revision })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("Keep the records in another store"),
    });
    await expect(store.put("b", Buffer.from("2"), { ifRevision: null })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("Keep only renditions in it"),
    });
    expect(String((await store.get("a"))?.body)).toBe("1");
    await store.close();
    // A client that was given stays open.
    await client.send(new ListObjectsV2Command({ Bucket: bucket, MaxKeys: 1 }));
    client.destroy();
  });
});

test.each([
  [{ bucket: "" }, "bucket"],
  [{ prefix: "a" }, "prefix"],
  [{ prefix: "/" }, "prefix"],
  [{ prefix: "a/../" }, "prefix"],
  [{ timeoutMs: 0 }, "timeoutMs"],
  [{ bufferBytes: -1 }, "bufferBytes"],
  [{ maxSockets: 0 }, "maxSockets"],
  [{ minBytesPerSecond: 0.5 }, "minBytesPerSecond"],
])("refuses %j", (options, name) => {
  expect(() => createS3BlobStore({ bucket: "b", ...options })).toThrow(name);
});

test("refuses settings beside a client that decides about them", () => {
  expect(() => createS3BlobStore({ bucket: "b", client: server.client, region: "x" })).toThrow("region");
});
