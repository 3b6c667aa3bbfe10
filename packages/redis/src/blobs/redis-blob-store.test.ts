import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type BlobStore, isServiceError } from "@outrigger/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type RedisCluster,
  type RedisServer,
  startRedis,
  startRedisCluster,
} from "../../../../test/support/redis-server.ts";
import { connectRedis } from "../connection/redis-connection.ts";
import { createRedisBlobStore, type RedisBlobStore, type RedisBlobStoreOptions } from "./redis-blob-store.ts";

const MIB = 2 ** 20;

let server: RedisServer;
let cluster: RedisCluster;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis(), startRedisCluster()]);
});
afterAll(async () => {
  await Promise.all([server.close(), cluster.close()]);
});

type Extra = Partial<Pick<RedisBlobStoreOptions, "prefix" | "pieceBytes" | "supersededMs">>;

/** Gives a new store on the server, or the cluster, and closes it afterwards. */
async function withStore(
  url: string | string[],
  body: (store: RedisBlobStore, prefix: string) => Promise<void>,
  extra: Extra = {},
): Promise<void> {
  const prefix = `test-${randomBytes(6).toString("hex")}`;
  const store = createRedisBlobStore({ url, prefix, timeoutMs: 10_000, ...extra });
  try {
    await body(store, prefix);
  } finally {
    await store.close();
  }
}

describe("several stores", () => {
  test("see what others do at once", async () => {
    await withStore(server.url, async (one, prefix) => {
      const other = createRedisBlobStore({ url: server.url, prefix });
      for (let turn = 0; turn < 50; turn++) {
        const { revision } = await one.put("a/b", Buffer.from(`${turn}`));
        expect(await other.stat("a/b")).toEqual({ size: `${turn}`.length, revision });
        await other.delete("a/b");
        expect(await one.get("a/b")).toBeNull();
      }
      await other.close();
    });
  });

  test("have nothing in common where their prefixes differ", async () => {
    await withStore(server.url, async (one) => {
      await withStore(server.url, async (other) => {
        await one.put("a/b", Buffer.from("1"));
        await one.addDue("list", { id: "x", dueMs: 1 });
        expect(await other.stat("a/b")).toBeNull();
        expect(await other.list("")).toEqual({ keys: [] });
        expect(await other.listDue("list", 10, 10)).toEqual([]);
      });
    });
  });

  test.each(["server", "cluster"])("let one of 1000 create a blob, on a %s", async (kind) => {
    const url = kind === "server" ? server.url : cluster.urls;
    await withStore(url, async (one, prefix) => {
      const stores = [
        one,
        ...Array.from({ length: 4 }, () => createRedisBlobStore({ url, prefix, timeoutMs: 20_000 })),
      ];
      const results = await Promise.allSettled(
        Array.from({ length: 1000 }, (_, racer) => {
          // Every tenth is long enough to be written in pieces.
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
  });

  test("share a connection, which outlives them", async () => {
    const connection = connectRedis({ url: server.url });
    const prefix = `test-${randomBytes(6).toString("hex")}`;
    const [one, other] = [
      createRedisBlobStore({ connection, prefix }),
      createRedisBlobStore({ connection, prefix }),
    ];
    await one.put("a", Buffer.from("1"));
    await one.close();
    await expect(one.stat("a")).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(other.stat("a")).resolves.toMatchObject({ size: 1 });
    await connection.close();
    await expect(other.stat("a")).rejects.toMatchObject({ code: "store_unavailable" });
  });
});

describe("pieces", () => {
  test("are put together whatever lies on their edges", async () => {
    const pieceBytes = 131_072;
    await withStore(
      cluster.urls,
      async (store) => {
        for (const size of [
          pieceBytes - 1,
          pieceBytes,
          pieceBytes + 1,
          10 * pieceBytes,
          10 * pieceBytes + 1,
        ]) {
          const bytes = randomBytes(size);
          await store.put("a/b", Readable.from([bytes.subarray(0, 7), bytes.subarray(7)]));
          expect((await read(store, "a/b")).equals(bytes)).toBe(true);
          for (const start of [0, pieceBytes - 1, pieceBytes, size - 1]) {
            for (const end of [pieceBytes, size - 1, start + 8 * pieceBytes]) {
              if (start >= size || end < start) continue;
              const part = await read(store, "a/b", { start, end });
              expect(part.equals(bytes.subarray(start, end + 1)), `${size}: ${start}-${end}`).toBe(true);
            }
          }
        }
      },
      { pieceBytes },
    );
  });

  test("of what failed are removed, and expire on their own until they are part of a blob", async () => {
    await withStore(server.url, async (store, prefix) => {
      const failing = Readable.from(
        (async function* () {
          yield randomBytes(2 * MIB);
          throw new Error("gone");
        })(),
      );
      await expect(store.put("a/b", failing)).rejects.toThrow("gone");
      await expect.poll(() => names(prefix), { timeout: 10_000 }).toEqual([]);

      // What nobody is left to remove after a crash.
      let timesLeft: number[] = [];
      const held = Readable.from(
        (async function* () {
          yield randomBytes(2 * MIB);
          await expect.poll(() => names(prefix), { timeout: 10_000 }).toHaveLength(4);
          const answers = (await names(prefix)).map((name) => server.cli("PTTL", name));
          timesLeft = (await Promise.all(answers)).map(Number);
          yield randomBytes(2 * MIB);
        })(),
      );
      await store.put("a/b", held);
      expect(timesLeft).toHaveLength(4);
      expect(timesLeft.every((ms) => ms > 0 && ms <= 3_600_000)).toBe(true);
    });
  });

  test("stay while their blob is there, and expire when it is replaced or deleted", async () => {
    await withStore(
      server.url,
      async (store, prefix) => {
        const piecesOf = async () => (await names(prefix)).filter((name) => name.includes("}:p:"));
        const timesLeft = async (pieces: string[]) =>
          (await Promise.all(pieces.map((name) => server.cli("PTTL", name)))).map(Number);
        await store.put("a/b", randomBytes(MIB + 1));
        const first = await piecesOf();
        expect(first).toHaveLength(3);
        expect(await timesLeft(first)).toEqual([-1, -1, -1]);
        await store.put("a/b", randomBytes(MIB));
        expect(await piecesOf()).toHaveLength(4);
        const left = await timesLeft(first);
        expect(left.every((ms) => ms > 20_000 && ms <= 30_000)).toBe(true);
        await store.delete("a/b");
        expect((await timesLeft(await piecesOf())).every((ms) => ms > 0 && ms <= 30_000)).toBe(true);
      },
      { supersededMs: 30_000 },
    );
  });

  test("that are gone end a slow reader with an error, not with other bytes", async () => {
    await withStore(
      server.url,
      async (store, prefix) => {
        const old = randomBytes(6 * MIB);
        await store.put("a/b", old);
        const blob = await store.get("a/b");
        await store.put("a/b", Buffer.alloc(6 * MIB, 1));
        // Twelve pieces of the old one, twelve of the new one, a head and an index.
        await expect.poll(async () => (await names(prefix)).length, { timeout: 10_000 }).toBe(14);
        assert.ok(blob !== null && blob.body instanceof Readable);
        const seen: Buffer[] = [];
        const reading = (async () => {
          for await (const chunk of blob.body) seen.push(chunk);
        })();
        await expect(reading).rejects.toMatchObject({ code: "store_unavailable" });
        expect(old.subarray(0, Buffer.concat(seen).length).equals(Buffer.concat(seen))).toBe(true);
      },
      { supersededMs: 1000 },
    );
  });

  test("of many uploads at once keep their own bytes", async () => {
    await withStore(server.url, async (store) => {
      // What is put together for one is used again for another, as a whole and in pieces.
      const bodies = Array.from({ length: 24 }, (_, index) =>
        randomBytes(MIB - 1000 * index + (index % 2) * MIB),
      );
      for (let turn = 0; turn < 2; turn++) {
        await Promise.all(
          bodies.map(async (bytes, index) => {
            const chunks = Array.from({ length: 40 }, (_, at) =>
              bytes.subarray(at * 65_536, (at + 1) * 65_536),
            );
            await store.put(`image-${index}/${turn}`, Readable.from(chunks));
          }),
        );
      }
      for (const [index, bytes] of bodies.entries()) {
        for (const turn of [0, 1])
          expect((await read(store, `image-${index}/${turn}`)).equals(bytes)).toBe(true);
      }
    });
  });

  test("of a large blob pass through without filling the memory of the process", async () => {
    setFlagsFromString("--expose-gc");
    const collect: () => void = runInNewContext("gc");
    const held = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    await withStore(server.url, async (store) => {
      const before = held();
      let peak = 0;
      async function* source(): AsyncGenerator<Buffer> {
        for (let turn = 0; turn < 640; turn++) {
          yield Buffer.alloc(65_536, turn);
          if (turn % 40 === 39) peak = Math.max(peak, held() - before);
        }
      }
      await store.put("a/b", Readable.from(source()));
      let size = 0;
      const blob = await store.get("a/b");
      for await (const chunk of blob?.body ?? []) {
        size += chunk.length;
        if (size % (4 * MIB) === 0) peak = Math.max(peak, held() - before);
      }
      expect(size).toBe(40 * MIB);
      // What was freed a moment ago may still be counted.
      expect(peak).toBeLessThan(16 * MIB);
    });
  });
});

test("what is due lies on all masters of a cluster, and is given in order", async () => {
  await withStore(cluster.urls, async (store, prefix) => {
    const entries = Array.from({ length: 300 }, (_, index) => ({ id: `id-${index}`, dueMs: 1000 + index }));
    await Promise.all(entries.map((entry) => store.addDue("images", entry)));
    for (const node of cluster.nodes) {
      const found = (await node.cli("--scan", "--pattern", `${prefix}:{due:images:*`)).split("\n");
      expect(found.filter((name) => name !== "").length).toBeGreaterThan(0);
    }
    expect(await store.listDue("images", 1099, 1000)).toEqual(entries.slice(0, 100));
    expect(await store.listDue("images", Number.POSITIVE_INFINITY, 70)).toEqual(entries.slice(0, 70));
    await Promise.all(entries.slice(0, 150).map((entry) => store.removeDue("images", entry)));
    expect(await store.listDue("images", Number.POSITIVE_INFINITY, 1000)).toEqual(entries.slice(150));
  });
});

describe("a list of everything", () => {
  test.each(["server", "cluster"])("finds all keys by pages of any size, on a %s", async (kind) => {
    await withStore(kind === "server" ? server.url : cluster.urls, async (store) => {
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

  test("refuses a cursor that it has not given", async () => {
    await withStore(server.url, async (store) => {
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

describe("options", () => {
  test.each([
    { url: "" },
    { url: [] },
    { url: "http://localhost" },
    { url: "redis://:s3cret@/0" },
    { url: "redis://:s3cret@localhost/x" },
    { url: ["redis://localhost/1"] },
    { url: "redis://localhost", timeoutMs: 0 },
    { url: "redis://localhost", prefix: "{a}" },
    { url: "redis://localhost", prefix: "" },
    { url: "redis://localhost", pieceBytes: 1000 },
    { url: "redis://localhost", supersededMs: 0 },
  ])("that are wrong throw a TypeError that shows no password: %j", (options) => {
    const create = () => createRedisBlobStore(options);
    expect(create).toThrow(TypeError);
    expect(create).not.toThrow(/s3cret/);
  });
});

async function read(store: BlobStore, key: string, range?: { start: number; end: number }): Promise<Buffer> {
  const blob = await store.get(key, range === undefined ? {} : { range });
  assert.ok(blob !== null);
  if (Buffer.isBuffer(blob.body)) return blob.body;
  return Buffer.concat(await blob.body.toArray());
}

/** What a prefix has on the server. */
async function names(prefix: string): Promise<string[]> {
  return (await server.cli("--scan", "--pattern", `${prefix}:*`)).split("\n").filter((name) => name !== "");
}
