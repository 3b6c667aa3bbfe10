import { createHash } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { createFsBlobStore, createLookup } from "@outrigger/core";
import type { BlobStore } from "@outrigger/core/stores";
import { createRedisBlobStore } from "@outrigger/redis";
import {
  createSqlAccounts,
  createSqlBlobStore,
  createSqlContactSource,
  createSqlSuppressionList,
  openDatabase,
} from "@outrigger/sql";
import { afterAll, describe, expect, it } from "vitest";
import { ask, refusalOf } from "./lookup/ask.ts";
import { startHost } from "./support/hosts.ts";
import { type PostgresServer, startPostgres } from "./support/postgres-server.ts";
import { run } from "./support/programs.ts";
import { startRedis } from "./support/redis-server.ts";
import { addressOf, startSite } from "./support/service.ts";

// Each test starts a service, some a server for it.
/** What test/fixtures/record-stores.mjs has recorded: each later release must read it. */
const V1 = fileURLToPath(new URL("fixtures/stores/v1/", import.meta.url));
const OUTRIGGER = fileURLToPath(new URL("../packages/server/bin/outrigger.js", import.meta.url));

type State = "ready" | "edited" | "withheld" | "deleted" | "expired" | "due" | "owned" | "processing";
type RecordedImages = Record<State, { id: string; pin: string; sha256?: string }>;
interface RecordedLookup {
  key: string;
  found: string;
  suppressedByCommand: string;
  suppressed: string;
}
interface Recorded {
  secret: string;
  recordedAt: number;
  owner: string;
  idempotencyKey: string;
  directory: RecordedImages;
  redis: RecordedImages;
  postgres: RecordedImages;
  lookup: Record<"sqlite" | "postgres", RecordedLookup>;
}

const recorded = JSON.parse(await readFile(join(V1, "stores.json"), "utf8")) as Recorded;
const directories: string[] = [];
const servers: PostgresServer[] = [];

afterAll(async () => {
  for (const server of servers) await server.close();
  for (const directory of directories) await rm(directory, { recursive: true });
});

async function newDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "outrigger-recorded-"));
  directories.push(directory);
  return directory;
}

/** A database with a recorded dump, on a server that runs until the end of the tests. @returns its URL. */
async function restoredDatabase(name: string): Promise<string> {
  const server = await startPostgres();
  servers.push(server);
  const url = await server.createDatabase("recorded");
  await server.sql((await unpacked(name)).toString("utf8"), "recorded");
  return url;
}

async function unpacked(name: string): Promise<Buffer> {
  return gunzipSync(await readFile(join(V1, `${name}.gz`)));
}

describe("images stored in format 1", () => {
  it("images of format 1 in a directory are read, edited, swept and counted", async () => {
    const directory = await newDirectory();
    await succeed("tar", ["-xzf", join(V1, "directory.tar.gz"), "-C", directory]);
    await useImages(createFsBlobStore({ directory }), recorded.directory);
  });

  it("images of format 1 in Redis are read, edited, swept and counted", async () => {
    const redis = await startRedis({ dump: await unpacked("redis.rdb") });
    try {
      const store = createRedisBlobStore({ url: redis.url, timeoutMs: 10_000 });
      await useImages(store, recorded.redis, recorded.secret);
    } finally {
      await redis.close();
    }
  });

  it("images of format 1 in PostgreSQL are read, edited, swept and counted", async () => {
    const url = await restoredDatabase("images.postgres.sql");
    await useImages(createSqlBlobStore({ url, timeoutMs: 10_000 }), recorded.postgres, recorded.secret);
  });
});

async function useImages(storage: BlobStore, images: RecordedImages, secret?: string): Promise<void> {
  const site = await startSite({
    storage,
    ...(secret === undefined ? {} : { secret }),
    authorize: ({ headers }, action) =>
      action === "create" && headers["x-owner"] !== undefined
        ? { owner: String(headers["x-owner"]) }
        : undefined,
    requireStore: true,
    maxLifetimeMs: 1000 * 365 * 86_400_000,
    sweepEveryMs: false,
    now: () => recorded.recordedAt + 3_600_000,
  });
  const read = (state: State, suffix: string) => fetch(addressOf(site, images[state].id, suffix));
  const status = async (state: State) => (await read(state, "json")).status;
  const change = (state: State, method: string, query = "") =>
    fetch(`${addressOf(site, images[state].id, "json")}?pin=${images[state].pin}${query}`, { method });
  try {
    const original = await read("ready", "svg");
    expect(original.status).toBe(200);
    const sha256 = createHash("sha256").update(Buffer.from(await original.arrayBuffer()));
    expect(sha256.digest("hex")).toBe(images.ready.sha256);
    expect((await read("ready", "png")).status).toBe(200);
    expect((await read("withheld", "png")).headers.get("link")).toContain("https://example.com/demand");
    expect(await status("withheld")).toBe(451);
    for (const state of ["deleted", "expired", "due"] as const) expect(await status(state), state).toBe(410);
    // Its work is resumed by this process.
    await expect.poll(() => status("processing")).toBe(200);

    expect(await (await read("edited", "json")).json()).toMatchObject({ name: "third" });
    expect((await fetch(addressOf(site, images.edited.id, "json"), { method: "DELETE" })).status).toBe(403);
    const edited = await change("edited", "PATCH", "&name=fourth");
    expect([edited.status, await edited.json()]).toMatchObject([200, { name: "fourth" }]);

    expect(await site.images.usage(recorded.owner)).toMatchObject({ images: 1 });
    const again = await createAgain(site.base);
    expect(again).toMatchObject({ id: images.owned.id, pin: images.owned.pin });
    expect(await site.images.usage(recorded.owner)).toMatchObject({ images: 1 });
    expect((await change("owned", "DELETE")).status).toBe(204);
    expect(await site.images.usage(recorded.owner)).toEqual({ images: 0, bytes: 0 });

    // The one that is due, and the owned one that was deleted above.
    expect(await site.images.sweep()).toMatchObject({ emptied: 2, failed: 0 });
    expect(await storage.stat(`${images.due.id}/original`)).toBeNull();
    expect((await site.images.stats()).states).toEqual({
      ...{ ready: 3, withheld: 1, deleted: 2, expired: 2 },
      ...{ processing: 0, held: 0, failed: 0, removed: 0, damaged: 0 },
    });
    expect(site.errors).toEqual([]);
  } finally {
    await site.close();
  }
}

/** The create that was recorded with an `Idempotency-Key`, sent once more. */
async function createAgain(base: string): Promise<unknown> {
  const picture =
    '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="6"><title>owned</title><rect width="8" height="6" fill="#369"/></svg>';
  const form = new FormData();
  form.set("name", "owned");
  form.set("expiresAt", "2900-01-01T00:00:00.000Z");
  form.set("imagedata", new Blob([picture], { type: "image/svg+xml" }), "owned.svg");
  const headers = {
    "User-Agent": "recorder/1.0",
    "X-Owner": recorded.owner,
    "Idempotency-Key": recorded.idempotencyKey,
  };
  return (await fetch(`${base}/api/images.json`, { method: "POST", body: form, headers })).json();
}

describe("lookup data stored in format 1", () => {
  it("lookup data of format 1 in SQLite are found, counted and suppressed", async () => {
    const path = join(await newDirectory(), "lookup.db");
    await writeFile(path, await unpacked("lookup.db"));
    await useLookup(`file:${path}`, recorded.lookup.sqlite);
  });

  it("lookup data of format 1 in PostgreSQL are found, counted and suppressed", async () => {
    await useLookup(await restoredDatabase("lookup.postgres.sql"), recorded.lookup.postgres);
  });
});

async function useLookup(url: string, lookupRecorded: RecordedLookup): Promise<void> {
  const { key, found, suppressed, suppressedByCommand } = lookupRecorded;
  const database = openDatabase({ url });
  const lookup = createLookup({
    contacts: createSqlContactSource(database),
    accounts: createSqlAccounts(database),
    suppressions: createSqlSuppressionList(database),
    secret: recorded.secret,
    requestsPerSecond: false,
    now: () => recorded.recordedAt,
  });
  const host = await startHost("Express 5", lookup, "/lookup");
  const get = (operation: string, query: string) =>
    ask(`${host.base}/v2/${operation}?${query}&api_key=${key}`);
  try {
    const { status, body } = await get("domain-search", "domain=example.com");
    expect([status, body.data]).toMatchObject([
      200,
      { organization: "Example Works", emails: [{ value: found }] },
    ]);
    expect(refusalOf(await get("email-verifier", `email=${suppressed}`))).toEqual([451, "claimed_email"]);
    expect((await get("account", "x=1")).status).toBe(200);
  } finally {
    await host.close();
    await lookup.close();
    await database.close();
  }
  // One that the command suppressed, the command finds again, by the secret that it was given then.
  const data = await newDirectory();
  await mkdir(join(data, "blobs"));
  const environment = {
    OUTRIGGER_DATA: data,
    OUTRIGGER_SECRET: recorded.secret,
    OUTRIGGER_LOOKUP_DATABASE: url,
  };
  const settings = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const command = [process.execPath, OUTRIGGER, "suppress", "--remove", suppressedByCommand];
  expect(await succeed("env", [...settings, ...command])).toContain("no longer suppressed");
}

async function succeed(program: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr, status } = await run(program, args);
  expect([stderr.replace(/^outrigger: lookup database .*\n/, ""), status]).toEqual(["", 0]);
  return stdout.toString();
}
