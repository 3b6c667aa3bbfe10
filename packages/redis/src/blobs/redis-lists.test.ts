import { randomBytes } from "node:crypto";
import { dueName } from "@outrigger/core/stores";
import { describe, expect, test } from "vitest";
import { useRedis, withStore } from "../../test/redis-stores.ts";

const redis = useRedis();

describe("list of the whole Redis store", () => {
  test.each(["server", "cluster"])("on a %s returns all keys in pages of any size", async (kind) => {
    await withStore(kind === "server" ? redis.server.url : redis.cluster.urls, async (store) => {
      const keys = Array.from({ length: 600 }, (_, index) =>
        index < 300 ? `one/${index}` : `image-${index % 150}/${index}`,
      );
      for (let at = 0; at < keys.length; at += 50) {
        await Promise.all(keys.slice(at, at + 50).map((key) => store.put(key, Buffer.from("x"))));
      }
      for (const limit of [7, 300, 1000]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page = await store.list("", cursor === undefined ? { limit } : { limit, cursor });
          expect(page.keys.length).toBeLessThanOrEqual(limit);
          seen.push(...page.keys);
          cursor = page.cursor;
        } while (cursor !== undefined);
        expect(new Set(seen)).toEqual(new Set(keys));
      }
    });
  });

  test("rejects a cursor that it did not issue", async () => {
    await withStore(redis.server.url, async (store) => {
      await store.put("a/b", Buffer.from("x"));
      for (const cursor of ["", "x", ",x,", ",0,../x", ",0,a/b,../../x", ",0,,*"]) {
        await expect(store.list("", { cursor }), cursor).rejects.toMatchObject({ code: "bad_request" });
      }
      for (const cursor of ["", "b/c", "../a", "a/"]) {
        await expect(store.list("a/", { cursor }), cursor).rejects.toMatchObject({ code: "bad_request" });
      }
    });
  });
});

describe.each(["server", "cluster"] as const)("due lists on a %s", (kind) => {
  const url = () => (kind === "server" ? redis.server.url : redis.cluster.urls);
  const nodes = () => (kind === "server" ? [redis.server] : redis.cluster.nodes);

  test("are spread over many keys and all masters, and listed in order", async () => {
    await withStore(url(), async (store, prefix) => {
      const entries = Array.from({ length: 300 }, (_, index) => {
        return { id: randomBytes(9).toString("base64url"), dueMs: 1000 + index };
      });
      await Promise.all(entries.map((entry) => store.addDue("images", entry)));
      for (const node of nodes()) {
        const found = (await node.cli("--scan", "--pattern", `${prefix}:{due:images:*`)).split("\n");
        expect(found.filter((name) => name !== "").length).toBeGreaterThan(20);
      }
      expect(await store.listDue("images", 1099, 1000)).toEqual(entries.slice(0, 100));
      for (const limit of [1, 70, 299]) {
        expect(await store.listDue("images", Number.POSITIVE_INFINITY, limit)).toEqual(
          entries.slice(0, limit),
        );
      }
      await Promise.all(entries.slice(0, 150).map((entry) => store.removeDue("images", entry)));
      expect(await store.listDue("images", Number.POSITIVE_INFINITY, 1000)).toEqual(entries.slice(150));
    });
  });

  test("list the oldest entries also if one key holds most of them", async () => {
    await withStore(url(), async (store) => {
      const entries = Array.from({ length: 90 }, (_, index) => ({ id: "same", dueMs: 1000 + index }));
      const others = Array.from({ length: 20 }, (_, index) => ({ id: `id-${index}`, dueMs: 1050 }));
      await Promise.all([...entries, ...others].map((entry) => store.addDue("images", entry)));
      expect(await store.listDue("images", Number.POSITIVE_INFINITY, 48)).toEqual(entries.slice(0, 48));
    });
  });

  test("of an earlier version are listed once and removed", async () => {
    await withStore(url(), async (store, prefix) => {
      const earlier = kind === "server" ? `${prefix}:{due:images}` : `${prefix}:{due:images:3}`;
      const entry = { id: "id-1", dueMs: 1000 };
      const node = nodes()[0];
      // Redirected to the master of the key.
      await node?.cli("-c", "ZADD", earlier, "1000", dueName(entry));
      expect(await store.listDue("images", 1000, 10)).toEqual([entry]);
      await store.addDue("images", entry);
      expect(await store.listDue("images", 1000, 10)).toEqual([entry]);
      await store.removeDue("images", entry);
      await store.removeDue("images", entry);
      expect(await store.listDue("images", 1000, 10)).toEqual([]);
    });
  });
});
