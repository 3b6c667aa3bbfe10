import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startRedis } from "../../../test/support/redis-server.ts";
import { useRedis } from "../test/redis-stores.ts";
import { createRedisKeyv } from "./redis-keyv.ts";

const redis = useRedis();

describe("createRedisKeyv on one server", () => {
  behaviour(() => redis.server.url);

  test("rejects with no_space when the server is out of memory", async () => {
    const full = await startRedis({ args: ["--maxmemory", "2mb", "--maxmemory-policy", "noeviction"] });
    const keyv = createRedisKeyv({ url: full.url });
    try {
      await keyv.set("small", 1);
      await expect(keyv.set("large", "x".repeat(4e6))).rejects.toMatchObject({ code: "no_space" });
      await expect(keyv.get("small")).resolves.toBe(1);
    } finally {
      await keyv.disconnect();
      await full.close();
    }
  });

  test("rejects with store_unavailable while the server is down or hangs, and works again afterwards", async () => {
    const own = await startRedis();
    const keyv = createRedisKeyv({ url: own.url, timeoutMs: 1000 });
    try {
      await keyv.set("a", 1);
      await own.kill();
      for (const work of [
        () => keyv.get("a"),
        () => keyv.getMany(["a", "b"]),
        () => keyv.set("a", 2),
        () => keyv.delete("a"),
        () => keyv.has("a"),
        () => keyv.clear(),
      ]) {
        await expect(work()).rejects.toMatchObject({ code: "store_unavailable" });
      }
      await own.start();
      await expect.poll(() => keyv.set("a", 3).catch(String)).toBe(true);
      await expect(keyv.get("a")).resolves.toBe(3);
      own.signal("SIGSTOP");
      await expect(keyv.get("a")).rejects.toMatchObject({ code: "store_unavailable" });
      own.signal("SIGCONT");
      await expect.poll(() => keyv.get("a").catch(String)).toBe(3);
    } finally {
      await keyv.disconnect();
      await own.close();
    }
  });
});

describe("createRedisKeyv on a cluster of three masters", () => behaviour(() => redis.cluster.urls));

function behaviour(url: () => string | string[]): void {
  test("stores and expires values, and separates namespaces", async () => {
    const [one, other] = [1, 2].map(() =>
      createRedisKeyv({ url: url(), namespace: `test-${randomBytes(6).toString("hex")}` }),
    );
    if (one === undefined || other === undefined) throw new Error("There are two.");
    try {
      const keys = Array.from({ length: 30 }, (_, index) => `key ${index}`);
      await Promise.all(keys.map((key, index) => one.set(key, { index })));
      await other.set("key 1", "another");
      await expect(one.get("key 1")).resolves.toEqual({ index: 1 });
      await expect(one.getMany(["key 2", "none", "key 3"])).resolves.toEqual([
        { index: 2 },
        undefined,
        { index: 3 },
      ]);
      await expect(one.has("key 4")).resolves.toBe(true);
      const listed = new Map<string, unknown>();
      for await (const [key, value] of one.iterator?.(undefined) ?? []) listed.set(key, value);
      expect(listed).toEqual(new Map(keys.map((key, index) => [key, { index }])));
      await expect(one.delete("key 4")).resolves.toBe(true);
      await expect(one.delete("key 4")).resolves.toBe(false);
      await expect(one.deleteMany(["key 5", "key 6"])).resolves.toBe(true);
      await expect(one.has("key 5")).resolves.toBe(false);
      await one.set("short", 1, 50);
      await expect.poll(() => one.get("short")).toBeUndefined();
      await one.clear();
      await expect(one.get("key 1")).resolves.toBeUndefined();
      await expect(other.get("key 1")).resolves.toBe("another");
    } finally {
      await one.disconnect();
      await expect(one.get("key 1")).rejects.toMatchObject({ code: "store_unavailable" });
      await expect(other.get("key 1")).resolves.toBe("another");
      await other.disconnect();
    }
  });
}
