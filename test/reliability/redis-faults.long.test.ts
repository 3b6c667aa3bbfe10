import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createRedisBlobStore, createRedisRateLimiter } from "@outrigger/redis";
import { describe, expect, test } from "vitest";
import { run } from "../support/programs.ts";
import { startRedis, startRedisCluster } from "../support/redis-server.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { allKeys, healed, MIB, sizeOf, UNAVAILABLE, withServer } from "./redis/redis-store.ts";

test("calls to a hanging server time out, the server executes none of them later, and the store recovers", async () => {
  await withServer({}, async (server, store) => {
    const limiter = createRedisRateLimiter({ url: server.url });
    const rule = { limit: 5, windowMs: 60_000 };
    await limiter.consume("a", rule);
    const old = Buffer.from("old");
    const { revision } = await store.put("a/b", old);
    await store.put("a/kept", randomBytes(4 * MIB));
    const reading = await store.get("a/kept");
    server.signal("SIGSTOP");
    const calls = [
      () => store.put("a/b", Buffer.from("new")),
      () => store.put("a/b", Readable.from([randomBytes(2 * MIB)])),
      () => store.put("a/new", Buffer.from("new"), { ifRevision: null }),
      () => store.delete("a/kept"),
      () => store.get("a/b"),
      () => store.stat("a/b"),
      () => store.list("a/"),
      () => store.list(""),
      () => store.listDue("list", 1, 1),
      () => limiter.consume("a", rule),
      () => (reading?.body instanceof Readable ? reading.body.toArray() : Promise.resolve()),
    ];
    // The server hangs until each call has ended.
    await Promise.all(calls.map((work) => expect(work(), String(work)).rejects.toMatchObject(UNAVAILABLE)));
    server.signal("SIGCONT");
    await healed(store);
    // The server has received the late commands by now and refused them.
    expect(await store.stat("a/b")).toEqual({ size: old.length, revision });
    expect(await store.stat("a/new")).toBeNull();
    expect(await store.stat("a/kept")).toMatchObject({ size: 4 * MIB });
    await limiter.close();
  });
});

test("a killed server keeps every acknowledged write, and the store reconnects", async () => {
  await withServer({ appendOnly: true }, async (server, store) => {
    const acknowledged = new Map<string, number>();
    for (let turn = 0; turn < 4; turn++) {
      let isOver = false;
      const work = Array.from({ length: 6 }, async (_, lane) => {
        for (let at = 0; !isOver; at++) {
          const key = `image-${turn}-${lane}/${at}`;
          const size = at % 4 === 0 ? 300_000 : 100;
          const done = await store.put(key, Buffer.alloc(size, at)).catch(() => undefined);
          if (done === undefined) return;
          acknowledged.set(key, size);
          if (at % 3 === 2 && (await store.delete(key).catch(() => false))) acknowledged.delete(key);
        }
      });
      const before = acknowledged.size;
      await expect.poll(() => acknowledged.size).toBeGreaterThan(before + 30);
      await server.kill();
      isOver = true;
      await Promise.all(work);
      await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
      await server.start();
      await healed(store);
    }
    const listed = await allKeys(store);
    for (const [key, size] of acknowledged) {
      // A key whose delete was in flight at the crash may be gone.
      if (!listed.has(key)) expect(await store.stat(key)).toBeNull();
      else expect(await sizeOf(store, key)).toBe(size);
    }
    const missing = [...acknowledged.keys()].filter((key) => !listed.has(key));
    expect(missing.length).toBeLessThanOrEqual(4 * 6);
    // Every listed key can be read, wherever the crashes interrupted a put.
    for (const key of listed) expect(await sizeOf(store, key), key).toBeGreaterThan(0);
  });
});

test("the store connects to a server that starts later than the store", async () => {
  const server = await startRedis();
  await server.kill();
  const store = createRedisBlobStore({ url: server.url });
  try {
    await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
    await server.start();
    await healed(store);
  } finally {
    await store.close();
    await server.close();
  }
});

test("a server out of memory answers no_space, keeps its blobs, and accepts more after deletes", async () => {
  const args = ["--maxmemory", "16mb", "--maxmemory-policy", "noeviction"];
  await withServer(
    { args },
    async (server, store) => {
      const stored: string[] = [];
      const fill = async () => {
        for (let at = stored.length; at < 100; at++) {
          await store.put(`image-${at}/original`, Readable.from([randomBytes(MIB)]));
          stored.push(`image-${at}/original`);
        }
      };
      await expect(fill()).rejects.toMatchObject({ code: "no_space" });
      expect(stored.length).toBeGreaterThan(5);
      await server.cli("CONFIG", "SET", "maxmemory", "1mb");
      await expect(store.put("small/record", Buffer.from("x"))).rejects.toMatchObject({ code: "no_space" });
      await expect(store.addDue("list", { id: "x", dueMs: 1 })).rejects.toMatchObject({ code: "no_space" });
      for (const key of stored) expect(await sizeOf(store, key)).toBe(MIB);
      expect(await allKeys(store)).toEqual(new Set(stored));
      for (const key of stored) expect(await store.delete(key)).toBe(true);
      await server.cli("CONFIG", "SET", "maxmemory", "16mb");
      const put = () => store.put("small/record", Buffer.from("x")).then(() => "stored", String);
      await expect.poll(put).toBe("stored");
    },
    { supersededMs: 1000 },
  );
});

describe("a cut connection", () => {
  test.each([10_000, 700_000, 1_300_000])(
    "a put whose connection breaks after %i bytes leaves the old blob",
    async (bytes) => {
      const server = await startRedis();
      const proxy = await startTcpProxy(server.port);
      const store = createRedisBlobStore({ url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 1000 });
      try {
        const { revision } = await store.put("a/b", Buffer.from("old"));
        proxy.cut({ direction: "up", afterBytes: bytes });
        await expect(store.put("a/b", randomBytes(2 * MIB))).rejects.toMatchObject(UNAVAILABLE);
        proxy.cut(null);
        await healed(store);
        expect(await store.stat("a/b")).toEqual({ size: 3, revision });
      } finally {
        await store.close();
        await proxy.close();
        await server.close();
      }
    },
  );

  test("puts whose connections the server kills repeatedly leave a readable blob", async () => {
    await withServer({}, async (server, store) => {
      let isOver = false;
      const kill = (async () => {
        for (let turn = 0; turn < 15; turn++)
          await server.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
        isOver = true;
      })();
      let failures = 0;
      for (let version = 0; !isOver; version++) {
        // A call on a lost connection fails at once; others must get a turn.
        await nextTurn();
        const bytes = Buffer.alloc(version % 2 === 0 ? 700_000 : 500, version % 256);
        await store.put("a/b", bytes).catch(() => {
          failures += 1;
        });
      }
      await kill;
      expect(failures).toBeGreaterThan(0);
      await healed(store);
      const size = (await store.stat("a/b"))?.size;
      expect(await sizeOf(store, "a/b")).toBe(size);
    });
  });
});

test("a closed store keeps neither the process alive nor a connection, even to a hanging server", async () => {
  const server = await startRedis();
  const program = `
    import { createRedisBlobStore } from "@outrigger/redis";
    const urls = process.argv.slice(1);
    for (const url of [...urls, urls]) {
      const store = createRedisBlobStore({ url, timeoutMs: 200 });
      for (let turn = 0; turn < 8; turn++) await store.stat("a").catch((error) => console.log(error.code));
      await store.close();
    }
    createRedisBlobStore({ url: urls[0] }).close();
  `;
  try {
    server.signal("SIGSTOP");
    const { stdout, stderr, status } = await run(process.execPath, [
      ...["--input-type=module", "-e", program],
      ...[server.url, "redis://127.0.0.1:1"],
    ]);
    expect([stderr, status]).toEqual(["", 0]);
    expect(stdout.toString().trim().split("\n")).toEqual(Array.from({ length: 24 }, () => UNAVAILABLE.code));

    const store = createRedisBlobStore({ url: server.url, timeoutMs: 200 });
    for (let turn = 0; turn < 12; turn++) await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
    server.signal("SIGCONT");
    await healed(store);
    // The connection of the store, and the one that lists the clients.
    const count = async () => (await server.cli("CLIENT", "LIST")).split("\n").length;
    await expect.poll(count).toBe(2);
    await store.close();
    await expect.poll(count).toBe(1);
  } finally {
    server.signal("SIGCONT");
    await server.close();
  }
});

test("a hanging or dead cluster node fails only its own keys, and serves them again after recovery", async () => {
  const cluster = await startRedisCluster();
  const store = createRedisBlobStore({ url: cluster.urls, timeoutMs: 1000 });
  try {
    for (const node of cluster.nodes) await node.cli("CONFIG", "SET", "cluster-require-full-coverage", "no");
    const keys = Array.from({ length: 30 }, (_, index) => `image-${index}/record`);
    const outcomes = () =>
      Promise.all(
        keys.map((key) =>
          store.put(key, Buffer.from("x")).then(
            () => "stored",
            (error) => error.code,
          ),
        ),
      );
    expect(new Set(await outcomes())).toEqual(new Set(["stored"]));
    cluster.nodes[1]?.signal("SIGSTOP");
    expect(new Set(await outcomes())).toEqual(new Set(["stored", "store_unavailable"]));
    cluster.nodes[1]?.signal("SIGCONT");
    await expect.poll(outcomes).toEqual(keys.map(() => "stored"));
    await cluster.nodes[2]?.kill();
    expect(new Set(await outcomes())).toEqual(new Set(["stored", "store_unavailable"]));
    await cluster.nodes[2]?.start();
    await expect.poll(outcomes).toEqual(keys.map(() => "stored"));
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    const late = createRedisBlobStore({ url: cluster.urls, timeoutMs: 1000 });
    for (const one of [store, late]) {
      await expect(one.list("")).rejects.toMatchObject(UNAVAILABLE);
      await expect(one.warnings()).rejects.toMatchObject(UNAVAILABLE);
    }
    await Promise.all(cluster.nodes.map((node) => node.start()));
    for (const one of [store, late]) {
      await expect.poll(() => one.list("").then(() => "listed", String)).toBe("listed");
    }
    await late.close();
  } finally {
    await store.close();
    await cluster.close();
  }
});
