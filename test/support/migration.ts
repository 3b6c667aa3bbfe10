import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BlobStore } from "@outrigger/core/stores";
import type { MigrationReport } from "@outrigger/ops";
import { expect } from "vitest";
import { outrigger } from "../../packages/server/test/outrigger-process.ts";
import { afterEachTest } from "./hooks.ts";
import { type RedisServer, type RedisServerOptions, startRedis } from "./redis-server.ts";

/** The secret of the directory that is migrated, which the target is bound to. */
export async function secretOf(cwd: string): Promise<{ OUTRIGGER_SECRET: string }> {
  const bytes = await readFile(join(cwd, "data", "secret"));
  return { OUTRIGGER_SECRET: `base64:${bytes.toString("base64")}` };
}

const SIGNALLING = new URL("./signal-after-writes.mjs", import.meta.url).href;

const servers = new Set<RedisServer>();
const stores = new Set<BlobStore>();

afterEachTest(async () => {
  for (const store of stores) await store.close();
  for (const server of servers) await server.close();
  stores.clear();
  servers.clear();
});

export async function redis(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedis(options);
  servers.add(server);
  return server;
}

export function opened<T extends BlobStore>(store: T): T {
  stores.add(store);
  return store;
}

export function migration(
  cwd: string,
  to: string,
  args: readonly string[] = [],
  env: Record<string, string> = {},
) {
  return outrigger(["migrate", "--from", "file:./data", "--to", to, ...args], { cwd, env });
}

/** Environment in which a migration sends itself `signal` after `writes` writes to a store. */
export function signalAfter(signal: NodeJS.Signals, writes: number): Record<string, string> {
  return { NODE_OPTIONS: `--import ${SIGNALLING}`, SIGNAL_AFTER_WRITES: `${signal}:${writes}` };
}

/** Runs a migration to its end. */
export async function migrated(...parameters: Parameters<typeof migration>) {
  const { exit, output } = migration(...parameters);
  return { code: await exit, ...output };
}

/** Runs a migration to its end and returns its report. */
export async function report(cwd: string, to: string): Promise<MigrationReport> {
  const { code, stdout, stderr } = await migrated(cwd, to, ["--json"]);
  if (code !== 0) throw new Error(`${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as MigrationReport; // The documented output of --json.
}

export async function keysOf(store: BlobStore): Promise<string[]> {
  const keys: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list("", cursor === undefined ? {} : { cursor });
    // The target gets an identity also where the source, written by hand, has none.
    keys.push(...page.keys.filter((key) => !/^(?:migration\/|identity$)/.test(key)));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return keys.sort();
}

export async function bytesOf(store: BlobStore, key: string): Promise<Buffer> {
  const blob = await store.get(key);
  if (blob === null) throw new Error(`There is no ${key}`);
  return Buffer.isBuffer(blob.body) ? blob.body : Buffer.concat(await blob.body.toArray());
}

export async function expectSame(from: BlobStore, to: BlobStore): Promise<void> {
  const keys = await keysOf(from);
  expect(await keysOf(to)).toEqual(keys);
  for (const key of keys) expect((await bytesOf(to, key)).equals(await bytesOf(from, key))).toBe(true);
}
