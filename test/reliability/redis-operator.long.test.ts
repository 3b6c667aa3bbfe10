import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { createRedisBlobStore, createRedisRateLimiter } from "@outrigger/redis";
import { describe, expect, test } from "vitest";
import { startRedis, startRedisCluster } from "../support/redis-server.ts";
import { allKeys, MIB, sizeOf, UNAVAILABLE, withServer } from "./redis/redis-store.ts";

describe("messages to the operator", () => {
  const secret = "correct-horse";

  test("an error names a wrong or missing password and never contains the password", async () => {
    const server = await startRedis({ args: ["--requirepass", secret], password: secret });
    try {
      const right = createRedisBlobStore({ url: server.url.replace("//", `//:${secret}@`) });
      await right.put("a", Buffer.from("x"));
      await right.close();
      for (const [login, message] of [
        ["", /password/],
        [":battery-staple@", /refuses/],
        ["stranger:x@", /refuses/],
      ] as const) {
        const store = createRedisBlobStore({ url: server.url.replace("//", `//${login}`) });
        const error = await failure(store.stat("a"));
        expect(error).toMatchObject(UNAVAILABLE);
        expect(error.message).toMatch(message);
        expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("battery-staple");
        await store.close();
      }
    } finally {
      await server.close();
    }
  });

  test("an error names a replica, a cluster given one URL, and a single server given a list", async () => {
    const cluster = await startRedisCluster();
    const primary = await startRedis();
    const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    try {
      await expect.poll(() => replica.cli("ROLE")).toContain("connected");
      for (const [url, message] of [
        [replica.url, /read-only replica/],
        [cluster.urls[0] ?? "", /array/],
        [[primary.url], /string/],
      ] as const) {
        const store = createRedisBlobStore({ url });
        const keys = Array.from({ length: 8 }, (_, index) => `image-${index}`);
        const results = await Promise.allSettled(keys.map((key) => store.put(key, Buffer.from("x"))));
        const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(errors[0]).toMatchObject({ ...UNAVAILABLE, message: expect.stringMatching(message) });
        await store.close();
      }
    } finally {
      await replica.close();
      await primary.close();
      await cluster.close();
    }
  });

  test("warnings name the server settings that lose images", async () => {
    await withServer({ appendOnly: true }, async (server, store) => {
      expect(await store.warnings()).toEqual([]);
      await server.cli("CONFIG", "SET", "appendonly", "no");
      expect(await store.warnings()).toEqual([
        expect.stringMatching(/keeps nothing on disk.*appendonly yes/),
      ]);
      await server.cli("CONFIG", "SET", "save", "3600 1");
      expect(await store.warnings()).toEqual([expect.stringMatching(/only snapshots/)]);
      await server.cli(
        "CONFIG",
        "SET",
        "appendonly",
        "yes",
        "maxmemory",
        "100mb",
        "maxmemory-policy",
        "allkeys-lru",
      );
      expect(await store.warnings()).toEqual([expect.stringMatching(/evicting.*noeviction/)]);
      await server.cli("ACL", "SETUSER", "app", "on", ">x", "~*", "+@all", "-config");
      const restricted = createRedisBlobStore({ url: server.url.replace("//", "//app:x@") });
      expect(await restricted.warnings()).toEqual([expect.stringMatching(/could not be checked/)]);
      await restricted.close();
    });
  });
});

test("a user with the permissions from the README can use every function of the store", async () => {
  const readme = await readFile(new URL("../../packages/redis/README.md", import.meta.url), "utf8");
  const rules = /^~outrigger:\* [^`]*/m.exec(readme)?.[0].trim().split(/\s+/) ?? [];
  expect(rules.length).toBeGreaterThan(10);
  const server = await startRedis({ appendOnly: true });
  await server.cli("ACL", "SETUSER", "app", "on", ">x", ...rules);
  const url = server.url.replace("//", "//app:x@");
  const store = createRedisBlobStore({ url });
  const limiter = createRedisRateLimiter({ url });
  try {
    for (const size of [10, 3 * MIB]) {
      await store.put("a/b", Readable.from([Buffer.alloc(size)]));
      expect(await sizeOf(store, "a/b")).toBe(size);
    }
    expect(await allKeys(store)).toEqual(new Set(["a/b"]));
    expect((await store.list("a/")).keys).toEqual(["a/b"]);
    const cut = Readable.from([randomBytes(MIB)]);
    await expect(store.put("a/b", cut, { ifRevision: null })).rejects.toMatchObject({ code: "conflict" });
    expect(await store.delete("a/b")).toBe(true);
    const entry = { id: "x", dueMs: 1 };
    await store.addDue("list", entry);
    expect(await store.listDue("list", 1, 1)).toEqual([entry]);
    await store.removeDue("list", entry);
    const rule = { limit: 2, windowMs: 60_000 };
    for (const remaining of [1, 0]) expect(await limiter.consume("a", rule)).toMatchObject({ remaining });
    await limiter.refund("a", rule);
    expect(await limiter.peek("a", rule)).toMatchObject({ remaining: 1 });
    expect(await store.warnings()).toEqual([]);
  } finally {
    await store.close();
    await limiter.close();
    await server.close();
  }
});

async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It did not fail.");
}
