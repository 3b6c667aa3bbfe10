import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { BlobStore } from "@outrigger/core";
import { createRedisBlobStore, createRedisRateLimiter, type RedisBlobStore } from "@outrigger/redis";
import { describe, expect, test } from "vitest";
import { run } from "../support/programs.ts";
import { type RedisServer, startRedis, startRedisCluster } from "../support/redis-server.ts";

const MIB = 2 ** 20;
const UNAVAILABLE = { code: "store_unavailable" };
/** Within which a call must end that nobody answers: the store's two seconds, and some for a busy machine. */
const ENDED_MS = 4000;

test("a server that hangs is given up in time, does nothing afterwards, and is used again when it goes on", async () => {
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
    await Promise.all(
      calls.map(async (work) => {
        const begun = performance.now();
        await expect(work(), String(work)).rejects.toMatchObject(UNAVAILABLE);
        expect(performance.now() - begun, String(work)).toBeLessThan(ENDED_MS);
      }),
    );
    server.signal("SIGCONT");
    await healed(store);
    // What was sent before it hung has been received by now, and refused for being late.
    expect(await store.stat("a/b")).toEqual({ size: old.length, revision });
    expect(await store.stat("a/new")).toBeNull();
    expect(await store.stat("a/kept")).toMatchObject({ size: 4 * MIB });
    await limiter.close();
  });
});

test("a server that was killed has what it acknowledged, and the store finds it again", async () => {
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
      await expect.poll(() => acknowledged.size, { timeout: 20_000 }).toBeGreaterThan(before + 30);
      await server.kill();
      isOver = true;
      await Promise.all(work);
      await expect(store.stat("a")).rejects.toMatchObject(UNAVAILABLE);
      await server.start();
      await healed(store);
    }
    const listed = await allKeys(store);
    for (const [key, size] of acknowledged) {
      // The one that was being deleted when the server died may be gone.
      if (!listed.has(key)) expect(await store.stat(key)).toBeNull();
      else expect(await sizeOf(store, key)).toBe(size);
    }
    const missing = [...acknowledged.keys()].filter((key) => !listed.has(key));
    expect(missing.length).toBeLessThanOrEqual(4 * 6);
    // The list names what is there, whatever the crashes came between.
    for (const key of listed) expect(await sizeOf(store, key), key).toBeGreaterThan(0);
  });
}, 120_000);

test("a server that comes up later than the store is found", async () => {
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

test("a server without memory left says so, keeps what it has, and takes more when something is deleted", async () => {
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
      await expect
        .poll(() => store.put("small/record", Buffer.from("x")).then(() => "stored", String), {
          timeout: 10_000,
        })
        .toBe("stored");
    },
    { supersededMs: 1000 },
  );
});

describe("a connection that is cut", () => {
  test.each([10_000, 700_000, 1_300_000])("after %i bytes of a put leaves the old state", async (bytes) => {
    const server = await startRedis();
    const proxy = await startProxy(server.port);
    const store = createRedisBlobStore({ url: `redis://127.0.0.1:${proxy.port}`, timeoutMs: 1000 });
    try {
      const { revision } = await store.put("a/b", Buffer.from("old"));
      proxy.cutAfter(bytes);
      await expect(store.put("a/b", randomBytes(2 * MIB))).rejects.toMatchObject(UNAVAILABLE);
      proxy.cutAfter(Number.POSITIVE_INFINITY);
      await healed(store);
      expect(await store.stat("a/b")).toEqual({ size: 3, revision });
    } finally {
      await store.close();
      await proxy.close();
      await server.close();
    }
  });

  test("by the server, again and again, never leaves a blob that cannot be read", async () => {
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

describe("an operator is told", () => {
  const secret = "correct-horse";

  test("that the password is wrong or missing, and the password is shown to nobody", async () => {
    const server = await startRedis({ args: ["--requirepass", secret], password: secret });
    try {
      const right = createRedisBlobStore({ url: server.url.replace("//", `//:${secret}@`) });
      await right.put("a", Buffer.from("x"));
      await right.close();
      for (const [login, message] of [
        ["", /password/],
        [":battery-staple@", /refuses/],
        ["nobody:x@", /refuses/],
      ] as const) {
        const store = createRedisBlobStore({ url: server.url.replace("//", `//${login}`) });
        const error = await failure(store.stat("a"));
        expect(error).toMatchObject(UNAVAILABLE);
        expect(error.message).toMatch(message);
        expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain("battery-staple");
        await store.close();
      }
    } finally {
      await server.close();
    }
  });

  test("that the server is a replica, a cluster, or none", async () => {
    const cluster = await startRedisCluster();
    const primary = await startRedis();
    const replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    try {
      await expect.poll(() => replica.cli("ROLE"), { timeout: 20_000 }).toContain("connected");
      for (const [url, message] of [
        [replica.url, /read-only replica/],
        [cluster.urls[0] ?? "", /array/],
        [[primary.url], /string/],
      ] as const) {
        const store = createRedisBlobStore({ url });
        const keys = Array.from({ length: 8 }, (_, index) => `image-${index}`);
        const results = await Promise.allSettled(keys.map((key) => store.put(key, Buffer.from("x"))));
        const errors = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
        expect(errors[0]).toMatchObject({ ...UNAVAILABLE, message: expect.stringMatching(message) });
        await store.close();
      }
    } finally {
      await replica.close();
      await primary.close();
      await cluster.close();
    }
  });

  test("of settings that lose images", async () => {
    await withServer({ appendOnly: true }, async (server, store) => {
      expect(await store.warnings()).toEqual([]);
      await server.cli("CONFIG", "SET", "appendonly", "no");
      expect(await store.warnings()).toEqual([
        expect.stringMatching(/keeps nothing on disk.*appendonly yes/),
      ]);
      await server.cli("CONFIG", "SET", "save", "3600 1");
      expect(await store.warnings()).toEqual([expect.stringMatching(/only snapshots/)]);
      await server.cli(
        "CONFIG",
        "SET",
        "appendonly",
        "yes",
        "maxmemory",
        "100mb",
        "maxmemory-policy",
        "allkeys-lru",
      );
      expect(await store.warnings()).toEqual([expect.stringMatching(/evicting.*noeviction/)]);
      await server.cli("ACL", "SETUSER", "app", "on", ">x", "~*", "+@all", "-config");
      const restricted = createRedisBlobStore({ url: server.url.replace("//", "//app:x@") });
      expect(await restricted.warnings()).toEqual([expect.stringMatching(/could not be checked/)]);
      await restricted.close();
    });
  });
});

test("a user with the permissions of the README may do everything", async () => {
  const readme = await readFile(new URL("../../packages/redis/README.md", import.meta.url), "utf8");
  const rules = /^~outrigger:\* [^`]*/m.exec(readme)?.[0].trim().split(/\s+/) ?? [];
  expect(rules.length).toBeGreaterThan(10);
  const server = await startRedis({ appendOnly: true });
  await server.cli("ACL", "SETUSER", "app", "on", ">x", ...rules);
  const url = server.url.replace("//", "//app:x@");
  const store = createRedisBlobStore({ url });
  const limiter = createRedisRateLimiter({ url });
  try {
    for (const size of [10, 3 * MIB]) {
      await store.put("a/b", Readable.from([Buffer.alloc(size)]));
      expect(await sizeOf(store, "a/b")).toBe(size);
    }
    expect(await allKeys(store)).toEqual(new Set(["a/b"]));
    expect((await store.list("a/")).keys).toEqual(["a/b"]);
    const cut = Readable.from([randomBytes(MIB)]);
    await expect(store.put("a/b", cut, { ifRevision: null })).rejects.toMatchObject({ code: "conflict" });
    expect(await store.delete("a/b")).toBe(true);
    const entry = { id: "x", dueMs: 1 };
    await store.addDue("list", entry);
    expect(await store.listDue("list", 1, 1)).toEqual([entry]);
    await store.removeDue("list", entry);
    const rule = { limit: 2, windowMs: 60_000 };
    for (const remaining of [1, 0]) expect(await limiter.consume("a", rule)).toMatchObject({ remaining });
    await limiter.refund("a", rule);
    expect(await limiter.peek("a", rule)).toMatchObject({ remaining: 1 });
    expect(await store.warnings()).toEqual([]);
  } finally {
    await store.close();
    await limiter.close();
    await server.close();
  }
});

test("a store that is closed keeps no process alive and no connection, whatever its server does", async () => {
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
    // Its one, and that of whoever asks.
    const count = async () => (await server.cli("CLIENT", "LIST")).split("\n").length;
    await expect.poll(count, { timeout: 10_000 }).toBe(2);
    await store.close();
    await expect.poll(count, { timeout: 10_000 }).toBe(1);
  } finally {
    server.signal("SIGCONT");
    await server.close();
  }
});

test("a cluster's node that hangs or dies keeps nobody from the others, and is used again when it is back", async () => {
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
    await expect.poll(outcomes, { timeout: 15_000 }).toEqual(keys.map(() => "stored"));
    await cluster.nodes[2]?.kill();
    expect(new Set(await outcomes())).toEqual(new Set(["stored", "store_unavailable"]));
    await cluster.nodes[2]?.start();
    await expect.poll(outcomes, { timeout: 15_000 }).toEqual(keys.map(() => "stored"));
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    const late = createRedisBlobStore({ url: cluster.urls, timeoutMs: 1000 });
    for (const one of [store, late]) {
      await expect(one.list("")).rejects.toMatchObject(UNAVAILABLE);
      await expect(one.warnings()).rejects.toMatchObject(UNAVAILABLE);
    }
    await Promise.all(cluster.nodes.map((node) => node.start()));
    for (const one of [store, late]) {
      await expect.poll(() => one.list("").then(() => "listed", String), { timeout: 15_000 }).toBe("listed");
    }
    await late.close();
  } finally {
    await store.close();
    await cluster.close();
  }
});

async function withServer(
  options: Parameters<typeof startRedis>[0],
  body: (server: RedisServer, store: RedisBlobStore) => Promise<void>,
  extra: { supersededMs?: number } = {},
): Promise<void> {
  const server = await startRedis(options);
  const store = createRedisBlobStore({ url: server.url, ...extra });
  try {
    await body(server, store);
  } finally {
    await store.close();
    await server.close();
  }
}

/** Resolves when the store works again, which it must within five seconds. */
async function healed(store: BlobStore): Promise<void> {
  const work = () => store.put("healed", Buffer.from("x")).then(() => "healed", String);
  await expect.poll(work, { timeout: 5000, interval: 20 }).toBe("healed");
  await store.delete("healed");
}

async function allKeys(store: BlobStore): Promise<Set<string>> {
  const keys = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    for (const key of page.keys) keys.add(key);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys;
}

/** How many bytes of a blob can be read; all of them have to be alike where it was filled. */
async function sizeOf(store: BlobStore, key: string): Promise<number> {
  const blob = await store.get(key);
  if (blob === null) return -1;
  return Buffer.isBuffer(blob.body) ? blob.body.length : Buffer.concat(await blob.body.toArray()).length;
}

async function failure(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It did not fail.");
}

/** A way to the server that ends when so many bytes have gone over it. */
async function startProxy(port: number) {
  let left = Number.POSITIVE_INFINITY;
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      // Both ends are cut on purpose.
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (chunk) => {
      left -= chunk.length;
      if (left < 0) client.resetAndDestroy();
      else upstream.write(chunk);
    });
    upstream.pipe(client);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const address = proxy.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    cutAfter(bytes: number) {
      left = bytes;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
