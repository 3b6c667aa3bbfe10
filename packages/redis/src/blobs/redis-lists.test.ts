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

  test("are listed in order, with one command each once the process has looked for earlier versions", async () => {
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

  test("with many entries of an earlier version are complete and in order at the first listing", async () => {
    await withStore(url(), async (store, prefix) => {
      const entries = Array.from({ length: 2500 }, (_, index) => ({
        id: `id-${index}`,
        dueMs: 1000 + index,
      }));
      const ofPart = (part: number) => entries.filter((_, index) => index % 2 === part);
      for (const [at, part] of [17, 255].entries()) {
        const name = `${prefix}:{due:images:${part}}`;
        const scored = ofPart(at).flatMap((entry) => [String(entry.dueMs), dueName(entry)]);
        await nodes()[0]?.cli("-c", "ZADD", name, ...scored);
      }
      await store.addDue("images", { id: "new", dueMs: 999 });
      const [first, ...others] = await store.listDue("images", Number.POSITIVE_INFINITY, 1000);
      expect(first).toEqual({ id: "new", dueMs: 999 });
      expect(others).toEqual(entries.slice(0, 999));
      await Promise.all(entries.map((entry) => store.removeDue("images", entry)));
      expect(await store.listDue("images", 5000, 1000)).toEqual([first]);
      for (const part of [17, 255]) {
        expect(await nodes()[0]?.cli("-c", "EXISTS", `${prefix}:{due:images:${part}}`)).toBe("0");
      }
    });
  });

  test("are listed after the keys that an earlier version's job queue left are deleted", async () => {
    await withStore(url(), async (store, prefix) => {
      const cli = (...args: string[]) => nodes()[0]?.cli("-c", ...args);
      const queue = `${prefix}:{queue:jobs}:images:`;
      await cli("HSET", `${queue}meta`, "version", "bullmq");
      await cli("XADD", `${queue}events`, "*", "event", "added");
      await cli("SET", `${queue}id`, "7");
      await store.listDue("jobs", 1000, 10);
      for (const key of ["meta", "events", "id"]) expect(await cli("EXISTS", queue + key)).toBe("0");
    });
  });
});
