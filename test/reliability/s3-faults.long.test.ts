import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { createS3BlobStore, type S3BlobStoreOptions } from "@outrigger/s3";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type S3Server, startS3Server } from "../support/s3-server.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const TIMEOUT_MS = 1000;
const LARGE_BYTES = 24 * 2 ** 20;

let server: S3Server;
let proxy: TcpProxy;
let bucket: string;
beforeAll(async () => {
  server = await startS3Server();
  bucket = await server.createBucket();
  proxy = await startTcpProxy(server.port);
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});
afterEach(() => proxy.cut(null));

function createStore(options: Partial<S3BlobStoreOptions> = {}) {
  const { endpoint, credentials } = server;
  return createS3BlobStore({ bucket, endpoint, credentials, timeoutMs: TIMEOUT_MS, ...options });
}

/** A store whose connection to the service can be cut; it has already probed the service's features. */
async function createStoreBehindProxy(options: Partial<S3BlobStoreOptions> = {}) {
  const store = createStore({ endpoint: proxy.endpoint, timeoutMs: 10_000, ...options });
  await store.capabilities();
  return store;
}

/** Retries until it succeeds. */
async function healed(work: () => Promise<unknown>): Promise<void> {
  await expect.poll(() => work().then(() => "healed", String)).toBe("healed");
}

const unavailable = { code: "store_unavailable" };

test("a used-up quota is reported as lack of room", async () => {
  const credentials = { accessKeyId: "SMALLKEY", secretAccessKey: "small-secret" };
  await server.admin(
    ...["user", "create", "--uid=small", "--display-name=small"],
    ...["--access-key", credentials.accessKeyId, "--secret-key", credentials.secretAccessKey],
  );
  await server.admin("quota", "set", "--quota-scope=user", "--uid=small", "--max-size=100000");
  await server.admin("quota", "enable", "--quota-scope=user", "--uid=small");
  const small = await server.createBucket(credentials);
  const store = createStore({ bucket: small, credentials, timeoutMs: 10_000 });
  await store.put("fits", randomBytes(1000));
  await expect(store.put("large", randomBytes(200_000))).rejects.toMatchObject({ code: "no_space" });
  await expect(store.get("large")).resolves.toBeNull();
  await store.close();
});

describe("a silent S3 service", () => {
  test("every method fails on a silent service, and works again once it answers", async () => {
    const store = createStore();
    const bytes = randomBytes(1000);
    const { revision } = await store.put("hung", bytes, { ifRevision: null });
    server.suspend();
    try {
      const calls = [
        store.put("hung", bytes),
        store.put("hung", bytes, { ifRevision: revision }),
        store.get("hung"),
        store.stat("hung"),
        store.delete("other"),
        store.list(""),
        store.addDue("list", { id: "x", dueMs: 1 }),
        store.removeDue("list", { id: "x", dueMs: 1 }),
        store.listDue("list", 1, 10),
      ];
      for (const result of await Promise.allSettled(calls)) {
        expect(result).toMatchObject({ status: "rejected", reason: unavailable });
      }
    } finally {
      server.resume();
    }
    await healed(() => store.put("hung", bytes));
    expect((await store.get("hung"))?.body).toEqual(bytes);
    await store.close();
  });

  test("an aborted call rejects while the service is silent", async () => {
    // Far longer than the test may last: only the abort can end the call.
    const store = createStore({ timeoutMs: 600_000 });
    await store.put("left", Buffer.from("x"));
    server.suspend();
    try {
      const reason = new Error("gone");
      const aborter = new AbortController();
      const get = store.get("left", { signal: aborter.signal });
      aborter.abort(reason);
      await expect(get).rejects.toBe(reason);
      const waiting = store.stat("left");
      await store.close();
      await expect(waiting).rejects.toMatchObject({
        code: "store_unavailable",
        message: "The store is closed",
      });
    } finally {
      server.resume();
    }
  });

  test("a body that stalls on the way fails", async () => {
    const store = createStore();
    await store.put("stops", Readable.from([randomBytes(LARGE_BYTES)], { objectMode: false }));
    const blob = await store.get("stops");
    server.suspend();
    try {
      await expect(buffer(blob?.body as Readable)).rejects.toMatchObject(unavailable);
    } finally {
      server.resume();
    }
    await healed(async () => {
      const again = await store.get("stops");
      expect((await buffer(again?.body as Readable)).length).toBe(LARGE_BYTES);
    });
    await store.close();
  });

  test("a slow reader of a body is not mistaken for a silent service", async () => {
    const store = createStore({ timeoutMs: 300 });
    const bytes = randomBytes(LARGE_BYTES);
    await store.put("slow", bytes);
    const body = (await store.get("slow"))?.body as Readable;
    const chunks: Buffer[] = [];
    for await (const chunk of body) {
      // Must exceed the time limit under test.
      if (chunks.length === 0) await delay(900);
      chunks.push(chunk);
    }
    expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
    await store.close();
  });
});

test("a service that died is used again once it restarts", async () => {
  const store = createStore();
  const bytes = randomBytes(2000);
  await store.put("died", bytes);
  await server.kill();
  await expect(store.get("died")).rejects.toMatchObject(unavailable);
  await expect(store.put("died", bytes)).rejects.toMatchObject(unavailable);
  await server.start();
  await healed(() => store.get("died"));
  expect((await store.get("died"))?.body).toEqual(bytes);
  await store.close();
});

describe("a wrong S3 setting", () => {
  const cases: [string, () => Partial<S3BlobStoreOptions>, string][] = [
    ["no such bucket", () => ({ bucket: "no-such-bucket" }), "NoSuchBucket"],
    [
      "an unknown key",
      () => ({ credentials: { ...server.credentials, accessKeyId: "UNKNOWN" } }),
      "InvalidAccessKeyId",
    ],
    [
      "a wrong secret",
      () => ({ credentials: { ...server.credentials, secretAccessKey: "geheim" } }),
      "SignatureDoesNotMatch",
    ],
    ["no server at the port", () => ({ endpoint: "http://127.0.0.1:9" }), "ECONNREFUSED"],
  ];
  test.each(cases)("every method reports the wrong setting: %s", async (_name, options, code) => {
    const store = createStore(options());
    const calls = [
      () => store.capabilities(),
      () => store.put("a", Buffer.from("1")),
      () => store.put("a", Buffer.from("1"), { ifRevision: null }),
      () => store.get("a"),
      () => store.stat("a"),
      () => store.delete("a"),
      () => store.list(""),
      () => store.listDue("list", 1, 10),
    ];
    for (const call of calls) {
      const error = await call().then(
        () => null,
        (error: unknown) => error,
      );
      expect(error).toMatchObject({ ...unavailable, message: expect.stringContaining(code) });
      expect((error as Error).cause).toBeInstanceOf(Error);
      // Formatted as a logger would write it.
      expect(inspect(error, { depth: 10 })).not.toMatch(/geheim|test-secret-key|AWS4-HMAC-SHA256 Cred/);
    }
    await store.close();
  });
});

describe("a broken connection to S3", () => {
  test("a connection that breaks during an upload costs one attempt", async () => {
    const bytes = randomBytes(LARGE_BYTES);
    const store = await createStoreBehindProxy();
    for (const body of [bytes, Readable.from([bytes], { objectMode: false })]) {
      const before = proxy.cuts();
      proxy.cut({ direction: "up", afterBytes: 5_000_000, times: 1 });
      await store.put("broken-in", body);
      expect(proxy.cuts()).toBe(before + 1);
      expect((await buffer((await store.get("broken-in"))?.body as Readable)).equals(bytes)).toBe(true);
    }
    await store.close();
  });

  test("a connection that keeps breaking leaves the old state", async () => {
    const store = await createStoreBehindProxy();
    const { revision } = await store.put("unbroken", Buffer.from("old"));
    proxy.cut({ direction: "up", afterBytes: 3_000_000 });
    const body = Readable.from([randomBytes(LARGE_BYTES)], { objectMode: false });
    await expect(store.put("unbroken", body)).rejects.toMatchObject(unavailable);
    expect(body.destroyed).toBe(true);
    proxy.cut(null);
    expect((await store.stat("unbroken"))?.revision).toBe(revision);
    expect(String((await store.get("unbroken"))?.body)).toBe("old");
    await store.close();
  });

  test("a connection that breaks during a download fails its stream, or costs one attempt if the body is small", async () => {
    const store = await createStoreBehindProxy();
    const [large, small] = [randomBytes(LARGE_BYTES), randomBytes(600_000)];
    await store.put("broken-out", large);
    await store.put("broken-small", small);
    proxy.cut({ direction: "down", afterBytes: 2_000_000, times: 1 });
    const blob = await store.get("broken-out");
    await expect(buffer(blob?.body as Readable)).rejects.toMatchObject(unavailable);
    const before = proxy.cuts();
    proxy.cut({ direction: "down", afterBytes: 100_000, times: 1 });
    expect((await store.get("broken-small"))?.body).toEqual(small);
    expect(proxy.cuts()).toBe(before + 1);
    await store.close();
  });

  test("a connection that breaks before the reply to a conditional write causes no false conflict with the caller's own write", async () => {
    const store = await createStoreBehindProxy();
    for (const [turn, size] of [0, 10, 100_000].entries()) {
      const key = `answered/${turn}`;
      const write = async (ifRevision: string | null) => {
        const before = proxy.cuts();
        proxy.cut({ direction: "down", afterBytes: 0, times: 1 });
        const bytes = randomBytes(size);
        const info = await store.put(key, bytes, { ifRevision });
        expect(proxy.cuts()).toBe(before + 1);
        expect(await store.stat(key)).toEqual(info);
        expect((await store.get(key))?.body).toEqual(bytes);
        return info.revision;
      };
      const created = await write(null);
      await write(created);
      proxy.cut({ direction: "down", afterBytes: 0, times: 1 });
      await expect(store.put(key, randomBytes(size), { ifRevision: created })).rejects.toMatchObject({
        code: "conflict",
      });
      proxy.cut({ direction: "down", afterBytes: 0, times: 1 });
      await expect(store.put(key, randomBytes(size), { ifRevision: null })).rejects.toMatchObject({
        code: "conflict",
      });
    }
    await store.close();
  });
});
