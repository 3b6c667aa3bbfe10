import { randomBytes } from "node:crypto";
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

  test("are listed in order, with one command each", async () => {
    await withStore(url(), async (store) => {
      const entries = Array.from({ length: 300 }, (_, index) => {
        return { id: randomBytes(9).toString("base64url"), dueMs: 1000 + index };
      });
      await Promise.all(entries.map((entry) => store.addDue("images", entry)));
      expect(await store.listDue("images", 1099, 1000)).toEqual(entries.slice(0, 100));
      for (const limit of [1, 70, 299]) {
        expect(await store.listDue("images", Number.POSITIVE_INFINITY, limit)).toEqual(
          entries.slice(0, limit),
        );
      }
      await Promise.all(entries.map((entry) => store.removeDue("images", entry)));
      for (const node of nodes()) await node.cli("CONFIG", "RESETSTAT");
      for (let poll = 0; poll < 10; poll++) expect(await store.listDue("images", 2000, 1000)).toEqual([]);
      const stats = await Promise.all(nodes().map((node) => node.cli("INFO", "commandstats")));
      const calls = stats.join("\n").match(/cmdstat_(?!info|config)\w+:calls=\d+/g);
      expect(calls).toEqual(["cmdstat_zrangebyscore:calls=10"]);
    });
  });
});
