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
