import { isServiceError } from "@outrigger/core";
import { describe, expect, test } from "vitest";
import { useRedis, withStore } from "../../test/redis-stores.ts";
import { createRedisBlobStore } from "./redis-blob-store.ts";

const redis = useRedis();

describe("several Redis stores", () => {
  test("with one prefix see each other's changes at once", async () => {
    await withStore(redis.server.url, async (one, prefix) => {
      const other = createRedisBlobStore({ url: redis.server.url, prefix });
      for (let turn = 0; turn < 50; turn++) {
        const { revision } = await one.put("a/b", Buffer.from(`${turn}`));
        expect(await other.stat("a/b")).toEqual({ size: `${turn}`.length, revision });
        await other.delete("a/b");
        expect(await one.get("a/b")).toBeNull();
      }
      await other.close();
    });
  });

  test.each(["server", "cluster"])(
    "on one %s let exactly one of 1000 concurrent puts create a blob",
    async (kind) => {
      const url = kind === "server" ? redis.server.url : redis.cluster.urls;
      await withStore(url, async (one, prefix) => {
        const stores = [
          one,
          ...Array.from({ length: 4 }, () => createRedisBlobStore({ url, prefix, timeoutMs: 20_000 })),
        ];
        const results = await Promise.allSettled(
          Array.from({ length: 1000 }, (_, racer) => {
            // Every tenth body is long enough to be written in pieces.
            const body = Buffer.alloc(racer % 10 === 0 ? 100_000 : 100, `${racer} `);
            return (stores[racer % stores.length] ?? one).put("a/b", body, { ifRevision: null });
          }),
        );
        const winners = results.filter(({ status }) => status === "fulfilled");
        expect(winners).toHaveLength(1);
        const losers = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(losers.every((error) => isServiceError(error, "conflict"))).toBe(true);
        for (const store of stores.slice(1)) await store.close();
      });
    },
  );
});

test("createRedisBlobStore throws a TypeError without the password for each invalid option", () => {
  const url = "redis://localhost";
  for (const options of [
    { url: "" },
    { url: [] },
    { url: "http://localhost" },
    { url: "redis://:s3cret@/0" },
    { url: "redis://:s3cret@localhost/x" },
    { url: ["redis://localhost/1"] },
    { url, timeoutMs: 0 },
    { url, prefix: "{a}" },
    { url, prefix: "" },
    { url, supersededMs: 0 },
    ...[0, 999, 1000.5, -1, Number.NaN, 315_360_000_001].map((ttlMs) => ({ url, ttlMs })),
  ]) {
    const create = () => createRedisBlobStore(options);
    expect(create, JSON.stringify(options)).toThrow(TypeError);
    expect(create, JSON.stringify(options)).not.toThrow(/s3cret/);
  }
});
