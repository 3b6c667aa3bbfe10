import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { afterAll, describe, expect, test } from "vitest";
import { jpegPhoto } from "../../../../test/support/pictures.ts";
import { addressOf, startSite, upload } from "../../../../test/support/service.ts";
import { useRedis } from "../../test/redis-stores.ts";
import { createRedisBlobStore, type RedisBlobStore } from "./redis-blob-store.ts";

const MIB = 2 ** 20;

const redis = useRedis();

describe.each(["server", "cluster"])("on a %s, blobs with a time to live", (kind) => {
  const isServer = kind === "server";
  const opened: RedisBlobStore[] = [];

  function open(prefix: string, ttlMs?: number, supersededMs = 1000): RedisBlobStore {
    const url = isServer ? redis.server.url : redis.cluster.urls;
    const store = createRedisBlobStore({
      ...{ url, prefix, timeoutMs: 10_000, supersededMs },
      ...(ttlMs === undefined ? {} : { ttlMs }),
    });
    opened.push(store);
    return store;
  }

  function somePrefix(): string {
    return `test-${randomBytes(6).toString("hex")}`;
  }

  afterAll(async () => {
    for (const store of opened) await store.close();
  });

  /**
   * The Redis keys with a prefix on all servers, with their PTTL in milliseconds; -1: the key never expires.
   */
  async function timesLeft(prefix: string): Promise<Map<string, number>> {
    const times = new Map<string, number>();
    for (const node of isServer ? [redis.server] : redis.cluster.nodes) {
      const names = (await node.cli("--scan", "--pattern", `${prefix}:*`)).split("\n");
      for (const name of names) {
        if (name !== "") times.set(name, Number(await node.cli("PTTL", name)));
      }
    }
    return times;
  }

  test("expire with their pieces and index entries and leave no key behind", async () => {
    const prefix = somePrefix();
    const store = open(prefix, 1500);
    const keys = ["image/small", "image/large", "other/small"];
    await store.put("image/small", Buffer.from("x"));
    await store.put("image/large", randomBytes(2 * MIB));
    await store.put("other/small", Buffer.from("y"));
    for (const key of keys) await expect.poll(() => store.stat(key)).toBeNull();
    for (const key of keys) expect(await store.get(key)).toBeNull();
    expect(await store.list("image/")).toEqual({ keys: [] });
    expect(await store.list("")).toEqual({ keys: [] });
    expect(await store.delete("image/large")).toBe(false);
    await expect.poll(async () => [...(await timesLeft(prefix)).keys()]).toEqual([]);
    await store.put("image/small", Buffer.from("again"), { ifRevision: null });
    expect(await store.list("")).toEqual({ keys: ["image/small"] });
  });

  test("can be read to the end after they expired by a read that began before", async () => {
    const store = open(somePrefix(), 4000, 30_000);
    const bytes = randomBytes(4 * MIB);
    await store.put("image/large", bytes);
    const blob = await store.get("image/large");
    await expect.poll(() => store.stat("image/large")).toBeNull();
    if (!(blob?.body instanceof Readable)) throw new Error("The body is not a stream.");
    expect(Buffer.concat(await blob.body.toArray()).equals(bytes)).toBe(true);
  });

  test("have pieces and an index with a longer time to live", async () => {
    const prefix = somePrefix();
    const store = open(prefix, 600_000);
    await store.put("image/large", randomBytes(2 * MIB));
    await open(prefix, 300_000).put("image/small", Buffer.from("x"));
    const times = await timesLeft(prefix);
    const of = (part: string) =>
      [...times].flatMap(([name, leftMs]) => (name.includes(`}:${part}`) ? [leftMs] : []));
    const [longest = 0, shortest = 0] = of("b:").toSorted((a, b) => b - a);
    expect(of("b:")).toHaveLength(2);
    expect(longest).toBeGreaterThan(500_000);
    expect(longest).toBeLessThanOrEqual(600_000);
    expect(shortest).toBeLessThanOrEqual(300_000);
    expect(of("p:")).toHaveLength(4);
    for (const leftMs of of("p:")) expect(leftMs).toBeGreaterThan(600_000 - 60_000);
    expect(of("i")).toHaveLength(1);
    expect(of("i")[0]).toBeGreaterThan(500_000);
  });

  test("restart their time to live with each write, and never expire once written without one", async () => {
    const prefix = somePrefix();
    const [short, long, lasting] = [open(prefix, 60_000), open(prefix, 600_000), open(prefix)];
    // Three pieces, a head and an index.
    const bytes = randomBytes(MIB + 1);
    await short.put("image/x", bytes);
    const { revision } = await long.put("image/x", bytes);
    const head = async () => [...(await timesLeft(prefix))].find(([name]) => name.includes("}:b:"))?.[1] ?? 0;
    expect(await head()).toBeGreaterThan(500_000);
    await lasting.put("image/x", bytes, { ifRevision: revision });
    await expect.poll(async () => [...(await timesLeft(prefix)).values()]).toEqual([-1, -1, -1, -1, -1]);
    // A later write with a time to live leaves a permanent index permanent.
    await short.put("image/y", Buffer.from("y"));
    const index = [...(await timesLeft(prefix))].find(([name]) => name.endsWith("}:i"))?.[1];
    expect(index).toBe(-1);
  });

  test("are not listed after they expired while other blobs of their image remain", async () => {
    const prefix = somePrefix();
    const [fleeting, lasting] = [open(prefix, 1000), open(prefix)];
    const keys = Array.from({ length: 60 }, (_, index) => `image/${String(index).padStart(2, "0")}`);
    const stay = keys.filter((_, index) => index % 7 === 0);
    await Promise.all(
      keys.map((key) => (stay.includes(key) ? lasting : fleeting).put(key, Buffer.from("x"))),
    );
    for (const key of keys.filter((each) => !stay.includes(each))) {
      await expect.poll(() => lasting.stat(key)).toBeNull();
    }
    for (const prefixOfKeys of ["image/", ""]) {
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await lasting.list(prefixOfKeys, {
          limit: 2,
          ...(cursor === undefined ? {} : { cursor }),
        });
        expect(page.keys.length).toBeLessThanOrEqual(2);
        seen.push(...page.keys);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(stay);
    }
    const node = isServer ? redis.server : redis.cluster.nodes;
    const counts = await Promise.all(
      [node].flat().map((each) => each.cli("ZCARD", `${prefix}:{image}:i`).catch(String)),
    );
    expect(counts).toContain(String(stay.length));
  });
});

test("expired renditions are rendered again on request", async () => {
  const records = createRedisBlobStore({ url: redis.server.url, prefix: "records" });
  const renditions = createRedisBlobStore({ url: redis.server.url, prefix: "renditions", ttlMs: 1000 });
  const site = await startSite({
    storage: { records, originals: records, renditions },
    secret: Buffer.alloc(32, 1),
  });
  try {
    const { id } = await upload(site, await jpegPhoto(400, 300), "image/jpeg");
    const draw = async () => {
      const response = await fetch(addressOf(site, id, "png"));
      expect(response.status).toBe(200);
      return Buffer.from(await response.arrayBuffer());
    };
    const kept = async () => (await renditions.list("")).keys.length;
    const first = await draw();
    await expect.poll(kept).toBe(0);
    expect((await draw()).equals(first)).toBe(true);
    expect((await records.list("")).keys.length).toBeGreaterThan(0);
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
});
