import { randomBytes } from "node:crypto";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type BlobStore, createFsBlobStore, type MigrationReport } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { afterEach, describe, expect, it } from "vitest";
import { outrigger, serve, temporaryDirectory } from "../packages/server/test/outrigger-process.ts";
import {
  type RedisServer,
  type RedisServerOptions,
  startRedis,
  startRedisCluster,
} from "./support/redis-server.ts";
import { stockDirectory } from "./support/stocked-directory.ts";

const SECRET = { OUTRIGGER_SECRET: "the same for all processes, 32 bytes" };
const DEADLINE_MS = 60_000;
const SIGNALLING = new URL("./support/signal-after-writes.mjs", import.meta.url).href;
/** One key after the other, so that all that happens has an order. */
const SLOWLY = ["--quiet", "--concurrency", "1"];

const servers = new Set<RedisServer>();
const stores = new Set<BlobStore>();

afterEach(async () => {
  for (const store of stores) await store.close();
  for (const server of servers) await server.close();
  stores.clear();
  servers.clear();
});

async function redis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  servers.add(server);
  return server;
}

function opened<T extends BlobStore>(store: T): T {
  stores.add(store);
  return store;
}

function migration(cwd: string, to: string, args: readonly string[] = [], env: Record<string, string> = {}) {
  return outrigger(["migrate", "--from", "file:./data", "--to", to, ...args], { cwd, env });
}

/** Has a migration interrupt itself when it has written to a store so often. */
function signalAfter(signal: NodeJS.Signals, writes: number): Record<string, string> {
  return { NODE_OPTIONS: `--import ${SIGNALLING}`, SIGNAL_AFTER_WRITES: `${signal}:${writes}` };
}

/** Runs it to its end. */
async function migrated(...parameters: Parameters<typeof migration>) {
  const { exit, output } = migration(...parameters);
  return { code: await exit, ...output };
}

/** Runs it to its end, and gives what it reports. */
async function report(cwd: string, to: string): Promise<MigrationReport> {
  const { code, stdout, stderr } = await migrated(cwd, to, ["--json", "--quiet"]);
  if (code !== 0) throw new Error(`${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as MigrationReport; // What the command promises.
}

/** Resolves when the server has so many keys of its own, or the process is over. */
async function hasKeys(server: RedisServer, keys: number, exit: Promise<unknown>): Promise<void> {
  let isOver = false;
  void exit.then(() => {
    isOver = true;
  });
  const deadline = Date.now() + DEADLINE_MS;
  while (!isOver && Number((await server.cli("DBSIZE")).replace(/\D/g, "")) < keys) {
    if (Date.now() > deadline) throw new Error(`There are no ${keys} keys in time`);
    await delay(5);
  }
}

async function keysOf(store: BlobStore): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    keys.push(...page.keys.filter((key) => !key.startsWith("migration/")));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys.sort();
}

async function bytesOf(store: BlobStore, key: string): Promise<Buffer> {
  const blob = await store.get(key);
  if (blob === null) throw new Error(`There is no ${key}`);
  return Buffer.isBuffer(blob.body) ? blob.body : Buffer.concat(await blob.body.toArray());
}

async function expectSame(from: BlobStore, to: BlobStore): Promise<void> {
  const keys = await keysOf(from);
  expect(await keysOf(to)).toEqual(keys);
  for (const key of keys) expect((await bytesOf(to, key)).equals(await bytesOf(from, key))).toBe(true);
}

describe("outrigger migrate, killed", () => {
  it("leaves no record without its bytes, nothing that a server would start on, and goes on where it was", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 250, 20_000);
    const server = await redis();
    const to = opened(createRedisBlobStore({ url: server.url }));
    let before = 0;
    let records: string[] = [];
    for (const writes of [100, 600, 1200]) {
      const { exit } = migration(cwd, server.url, SLOWLY, signalAfter("SIGKILL", writes));
      expect(await exit).toBe("SIGKILL");
      const arrived = await keysOf(to);
      expect(arrived.length).toBeGreaterThan(before);
      before = arrived.length;
      records = arrived.filter((key) => key.endsWith("/record"));
      expect(records.filter((key) => !arrived.includes(key.replace("/record", "/original")))).toEqual([]);
    }
    expect(records.length).toBeGreaterThan(0);
    expect(before).toBeLessThan(500);
    const env = { ...SECRET, OUTRIGGER_STORAGE: server.url };
    for (const args of [["serve"], ["images", "list"]]) {
      const refused = outrigger(args, { cwd, env });
      expect(await refused.exit).toBe(1);
      expect(refused.output.stderr).toContain("has only some of the images: their migration from file:");
    }
    const { copied, unchanged, keys } = await report(cwd, server.url);
    expect([copied, unchanged, keys]).toEqual([500 - before, before, { from: 500, to: 500 }]);
    await expectSame(opened(createFsBlobStore({ directory: join(cwd, "data") })), to);
    await serve(cwd, [], env).url;
  }, 240_000);

  it("stops by a signal after what is under way, with 130, and goes on where it was", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 250, 20_000);
    const server = await redis();
    const { exit, output } = migration(cwd, server.url, SLOWLY, signalAfter("SIGINT", 300));
    expect(await exit).toBe(130);
    expect(output.stderr).toContain("Stopped. Run the same command again to resume\n");
    expect(output.stderr).not.toContain("   at ");
    const { copied, unchanged } = await report(cwd, server.url);
    expect(copied + unchanged).toBe(500);
    expect(unchanged).toBeGreaterThan(20);
  }, 120_000);
});

describe("outrigger migrate, run again", () => {
  it("brings what was changed at the source since, and removes what was deleted there", async () => {
    const cwd = await temporaryDirectory();
    const [deleted, renamed] = await stockDirectory(join(cwd, "data"), 20, 1000);
    const server = await redis();
    expect(await report(cwd, server.url)).toMatchObject({ copied: 40, isComplete: true });
    const from = opened(createFsBlobStore({ directory: join(cwd, "data") }));
    for (const part of ["record", "original"]) await from.delete(`${deleted}/${part}`);
    const record = JSON.parse((await bytesOf(from, `${renamed}/record`)).toString());
    await from.put(`${renamed}/record`, Buffer.from(JSON.stringify({ ...record, name: "renamed" })));
    await stockDirectory(join(cwd, "data"), 1, 1000);
    expect(await report(cwd, server.url)).toMatchObject({
      copied: 3,
      unchanged: 37,
      removed: 2,
      isComplete: true,
    });
    await expectSame(from, opened(createRedisBlobStore({ url: server.url })));
  });

  it("does not overwrite what a server has begun to use", async () => {
    const cwd = await temporaryDirectory();
    const [id] = await stockDirectory(join(cwd, "data"), 3, 1000);
    const server = await redis();
    await report(cwd, server.url);
    const env = { ...SECRET, OUTRIGGER_STORAGE: server.url };
    const running = serve(cwd, [], env);
    await running.url;
    const removal = outrigger(["images", "rm", "--yes", id ?? ""], { cwd, env });
    expect(await removal.exit).toBe(0);
    const { code, stderr } = await migrated(cwd, server.url);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("the target is not empty") });
    expect((await fetch(`${await running.url}/${id}`)).status).toBe(410);
  });
});

describe("outrigger migrate, to and from a Redis cluster", () => {
  it("copies everything", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 60, 1000);
    const cluster = await startRedisCluster();
    try {
      const url = cluster.urls.join(",");
      expect(await report(cwd, url)).toMatchObject({ copied: 120, isComplete: true });
      const back = outrigger(["migrate", "--from", url, "--to", "file:./back", "--json"], { cwd });
      expect(await back.exit).toBe(0);
      expect(JSON.parse(back.output.stdout)).toMatchObject({ copied: 120, isComplete: true });
      const [from, to] = ["data", "back"].map((name) => {
        return opened(createFsBlobStore({ directory: join(cwd, name) }));
      });
      if (from !== undefined && to !== undefined) await expectSame(from, to);
    } finally {
      await cluster.close();
    }
  }, 120_000);
});

describe("outrigger migrate, where something is wrong", () => {
  it("names what is damaged at the source, exits with 1, and leaves a target that a server starts on", async () => {
    const cwd = await temporaryDirectory();
    const [changed, lost] = await stockDirectory(join(cwd, "data"), 10, 1000);
    const from = opened(createFsBlobStore({ directory: join(cwd, "data") }));
    await from.put(`${changed}/original`, randomBytes(1000));
    await from.delete(`${lost}/original`);
    const server = await redis();
    const { code, stderr, stdout } = await migrated(cwd, server.url);
    expect(code).toBe(1);
    expect(stderr).toContain(
      `damaged at the source: ${changed}/original: its record says 1000 bytes with the SHA`,
    );
    expect(stderr).toContain(`damaged at the source: ${lost}/original: is missing; its record says`);
    expect(stdout).toContain("Both sides have the same 19 keys.");
    await serve(cwd, [], { ...SECRET, OUTRIGGER_STORAGE: server.url }).url;
  });

  it("says that the target is full", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 30, 400_000);
    const server = await redis({ args: ["--maxmemory", "6mb", "--maxmemory-policy", "noeviction"] });
    const { code, stdout, stderr } = await migrated(cwd, server.url, ["--quiet"]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(
      /outrigger: The target has no space left: .*maxmemory.*run this again to resume\n$/,
    );
    await server.cli("CONFIG", "SET", "maxmemory", "100mb");
    expect(await report(cwd, server.url)).toMatchObject({ images: 30, isComplete: true });
  }, 120_000);

  it("waits for a store that is away for a while", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 150, 20_000);
    const server = await redis({ appendOnly: true });
    const { exit, output } = migration(cwd, server.url, ["--quiet"]);
    await hasKeys(server, 100, exit);
    await server.kill();
    await server.start();
    expect([await exit, output.stderr.replace(/^.*warning.*\n/, "")]).toEqual([0, ""]);
    expect(output.stdout).toContain("Both sides have the same 300 keys.");
  }, 120_000);

  it("refuses a target that is not empty, the same store twice, memory, and a directory that is not there", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 1, 10);
    await stockDirectory(join(cwd, "own"), 1, 10);
    await stockDirectory(join(cwd, "other"), 1, 10);
    await rm(join(cwd, "other", "secret"));
    const same = { records: "file:./data", originals: "file:./b", renditions: "file:./b" };
    for (const [to, code, message] of [
      ["file:./other", 1, "Nothing was copied: the target is not empty"],
      ["file:./own", 1, "holds another secret than the source"],
      ["file:./data", 2, "--to: must not share a store with --from"],
      [JSON.stringify(same), 2, "--to: must not share a store with --from"],
      ["memory:", 2, "--to: must not be memory:"],
      ["ftp://x", 2, "--to: must be a URL that begins with"],
      ['{"records": "file:./b"}', 2, "--to.originals: must be a URL"],
    ] as const) {
      const { stderr, ...ended } = await migrated(cwd, to);
      expect([to, ended.code, stderr]).toEqual([to, code, expect.stringContaining(message)]);
    }
    expect(await migrated(cwd, "file:./b", ["--concurrency", "0"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("It must be a whole number from 1 to 256."),
    });
    const elsewhere = outrigger(["migrate", "--from", "file:./nowhere", "--to", "file:./b"], { cwd });
    expect(await elsewhere.exit).toBe(1);
    expect(elsewhere.output.stderr).toContain(
      "is not a data directory of Outrigger: set the right one with --from",
    );
  });

  it("shows neither passwords nor secrets", async () => {
    const cwd = await temporaryDirectory();
    await stockDirectory(join(cwd, "data"), 3, 10);
    const server = await redis({ args: ["--requirepass", "hush-right"], password: "hush-right" });
    const url = (password: string) => server.url.replace("//", `//:${password}@`);
    const env = { OUTRIGGER_SECRET: "hush, this is what PINs are derived from" };
    const outputs = [
      await migrated(cwd, url("hush-wrong"), [], env),
      await migrated(cwd, url("hush-right"), ["--secret-file", "secret"], env),
      await migrated(cwd, url("hush-right"), ["--json", "--secret-file", "secret"], env),
      await migrated(cwd, url("hush-right"), ["--secret-file", "data/secret"], env),
    ];
    expect(outputs.map(({ code }) => code)).toEqual([1, 0, 0, 2]);
    const told = outputs.map(({ stdout, stderr }) => stdout + stderr).join("");
    expect(told).not.toContain("hush");
    const back = outrigger(["migrate", "--from", url("hush-right"), "--to", "file:./back"], { cwd });
    expect(await back.exit).toBe(0);
    const mark = await bytesOf(
      opened(createFsBlobStore({ directory: join(cwd, "back") })),
      "migration/state",
    );
    const kept = await readFile(join(cwd, "data", "secret"));
    const shown = told + back.output.stdout + back.output.stderr + mark.toString();
    for (const form of ["hex", "base64", "base64url", "latin1"] as const) {
      expect(shown).not.toContain(kept.toString(form));
    }
    expect(shown).not.toContain("hush");
    await writeFile(join(cwd, "secret"), "something else");
    expect(await migrated(cwd, url("hush-right"), ["--secret-file", "secret"], env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--secret-file: "),
    });
  });
});
