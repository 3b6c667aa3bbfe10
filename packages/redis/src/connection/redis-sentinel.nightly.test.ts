// Nightly: fail-overs of a Redis with Sentinels, each waits for its timeouts.
import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isServiceError } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort } from "../../../../test/support/listen.ts";
import { type SentinelSetup, startSentinels, until } from "../../../../test/support/redis-sentinel.ts";
import { createRedisBlobStore, type RedisBlobStore } from "../blobs/redis-blob-store.ts";
import { createRedisKeyv } from "../redis-keyv.ts";
import { createRedisRateLimiter } from "../redis-rate-limiter.ts";

let setup: SentinelSetup;
beforeAll(async () => {
  setup = await startSentinels({ minReplicas: 1 });
});
afterAll(() => setup.close());

/** Stores blobs continuously with four writers and records the acknowledged ones. */
function keepWriting(store: RedisBlobStore) {
  const acknowledged: string[] = [];
  let isOver = false;
  let slowestMs = 0;
  const writers = Array.from({ length: 4 }, async () => {
    while (!isOver) {
      const key = `${randomUUID()}/record`;
      const begunAt = performance.now();
      try {
        await store.put(key, Buffer.from(key), { ifRevision: null });
        acknowledged.push(key);
      } catch (error) {
        if (!isServiceError(error, "store_unavailable")) throw error;
        await delay(20);
      }
      slowestMs = Math.max(slowestMs, performance.now() - begunAt);
    }
  });
  return {
    acknowledged,
    slowestMs: () => slowestMs,
    /** Resolves when `count` more blobs have been acknowledged. */
    async more(count: number): Promise<void> {
      const wanted = acknowledged.length + count;
      await until(`${count} more blobs are stored`, async () => acknowledged.length >= wanted);
    },
    async end(): Promise<void> {
      isOver = true;
      await Promise.all(writers);
    },
  };
}

/** A limiter and a Keyv behind the Sentinels. */
function openOthers(timeoutMs: number) {
  const source = { url: setup.url, timeoutMs };
  const limiter = createRedisRateLimiter(source);
  const keyv = createRedisKeyv(source);

  async function isUsable(id: string): Promise<boolean> {
    try {
      await limiter.consume("key", { limit: 1000, windowMs: 60_000 });
      await keyv.set("key", id);
      return (await keyv.get("key")) === id;
    } catch (error) {
      if (!isServiceError(error, "store_unavailable")) throw error;
      return false;
    }
  }

  return {
    /** Resolves when each of them has completed a call. */
    async use(): Promise<void> {
      const id = randomUUID();
      await until("limiter and Keyv work", () => isUsable(id));
    },
    close: () => Promise.all([limiter.close(), keyv.disconnect()]),
  };
}

describe("with Sentinels, a fail-over", () => {
  test("that no Sentinel announced is detected by the READONLY of the demoted master", async () => {
    const store = createRedisBlobStore({ url: setup.url, prefix: "demoted", timeoutMs: 1000 });
    await until(
      "the store works",
      async () => (await store.put("a", Buffer.from("1")).catch(() => null)) !== null,
    );
    const master = await setup.master();
    const other = setup.servers.find((server) => server !== master);
    await master.cli("REPLICAOF", "127.0.0.1", String(other?.port));
    await expect(store.put("a", Buffer.from("2"))).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(/replica|fail-over|cannot be reached|not a master/),
    });
    await master.cli("REPLICAOF", "NO", "ONE");
    await until(
      "it is written to again",
      async () => (await store.put("a", Buffer.from("3")).catch(() => null)) !== null,
    );
    await store.close();
  });

  test("moves store, limiter and Keyv to the new master, and loses no acknowledged blob", async () => {
    const timeoutMs = 1000;
    const store = createRedisBlobStore({ url: setup.url, prefix: "moved", timeoutMs });
    const writing = keepWriting(store);
    const others = openOthers(timeoutMs);
    await others.use();
    await writing.more(20);
    const old = await setup.master();
    old.signal("SIGSTOP");
    await until("another master is elected", async () => (await setup.master()) !== old);
    await writing.more(20);
    old.signal("SIGCONT");
    await old.cli("CONFIG", "RESETSTAT");
    // The resumed old master still has the role of a master for several seconds. It must receive no call.
    await writing.more(100);
    await others.use();
    const stats = await old.cli("INFO", "commandstats");
    await writing.end();
    expect(stats).not.toMatch(/cmdstat_eval/);
    // Two round trips (EVALSHA, then EVAL), and a margin for a busy machine.
    expect(writing.slowestMs()).toBeLessThan(2 * timeoutMs + 10_000);
    const missing = await Promise.all(
      writing.acknowledged.map(async (key) => ((await store.stat(key)) === null ? [key] : [])),
    );
    expect(missing.flat()).toEqual([]);
    await Promise.all([store.close(), others.close()]);
  });
});

describe("a Sentinel URL", () => {
  /** The message of the rejection of a write to a store on this URL, or "stored". */
  async function messageOf(url: string): Promise<unknown> {
    const store = createRedisBlobStore({ url, timeoutMs: 2000, prefix: randomBytes(4).toString("hex") });
    try {
      return await store.put("a", Buffer.from("1")).then(
        () => "stored",
        (error) => error.message,
      );
    } finally {
      await store.close();
    }
  }

  test("with a mistake makes a write reject with one sentence that names the mistake", async () => {
    const [sentinel] = setup.sentinels;
    const [server] = setup.servers;
    const place = `127.0.0.1:${sentinel?.port}`;
    expect(await messageOf(`redis+sentinel://${place}/other`)).toBe(
      "The Redis Sentinels watch no master of the name in the URL's path.",
    );
    expect(await messageOf(`redis+sentinel://127.0.0.1:${await freePort()}/main`)).toBe(
      "None of the Redis Sentinels can be reached.",
    );
    expect(await messageOf(`redis+sentinel://${place}/main?sentinelPassword=x`)).toBe(
      "The Redis Sentinels have no password, but the URL has a sentinelPassword.",
    );
    expect(await messageOf(`redis+sentinel://127.0.0.1:${server?.port}/main`)).toMatch(
      /^The address of the Sentinels is that of an ordinary Redis server/,
    );
    expect(await messageOf(`redis+sentinel://:x@${place}/main`)).toBe(
      "The Redis server has no password, but the address has one.",
    );
    for (const database of ["", "/1"]) {
      expect(await messageOf(`redis://${place}${database}`)).toBe(
        `The server at ${place} is a Redis Sentinel: the URL must be redis+sentinel://${place}/main, with all Sentinels separated by commas.`,
      );
    }
    expect(await messageOf(`rediss+sentinel://${place}/main`)).toBe(
      `The server at ${place} speaks no TLS: the URL must begin with redis+sentinel://, not rediss+sentinel://.`,
    );
  });

  test("works if one of its Sentinels is unreachable and another answers", async () => {
    const dead = `127.0.0.1:${await freePort()}`;
    expect(await messageOf(setup.url.replace("redis+sentinel://", `redis+sentinel://${dead},`))).toBe(
      "stored",
    );
  });
});

test("Sentinels with a password accept that of the URL and reject a wrong or missing one", async () => {
  const guarded = await startSentinels({ sentinelPassword: "s@fe" });
  const write = async (query: string) => {
    const store = createRedisBlobStore({ url: `${guarded.url}${query}`, timeoutMs: 2000 });
    try {
      await store.put("a", Buffer.from("1"));
      return await store.warnings();
    } catch (error) {
      return isServiceError(error) ? error.message : error;
    } finally {
      await store.close();
    }
  };
  expect(await write("?sentinelPassword=s%40fe")).toContainEqual(
    expect.stringContaining("Set `min-replicas-to-write 1`"),
  );
  expect(await write("")).toBe(
    "The Redis Sentinels ask for a password, and the URL has no sentinelPassword.",
  );
  expect(await write("?sentinelPassword=wrong")).toBe(
    "The Redis Sentinels refuse the sentinelUser or the sentinelPassword.",
  );
  // A user with exactly the permissions of the README, which only the Sentinels know.
  const may = ["+sentinel|master", "+subscribe", "+ping"];
  for (const { cli } of guarded.sentinels) {
    await cli("ACL", "SETUSER", "app", "on", ">hush", "resetchannels", "&+switch-master", ...may);
  }
  const login = "?sentinelUser=app&sentinelPassword=hush";
  expect(await write(login)).toHaveLength(2);
  await guarded.close();
});
