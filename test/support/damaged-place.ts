import { randomBytes } from "node:crypto";
import { open, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore, type ImageStorage } from "@outrigger/core";
import { type BlobStore, isLocalStore } from "@outrigger/core/stores";
import { createRedisBlobStore } from "@outrigger/redis";
import { createSqlBlobStore } from "@outrigger/sql";
import { afterAll, beforeAll } from "vitest";
import { temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { type PostgresServer, startPostgres } from "./postgres-server.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

let redis: RedisServer;
let postgres: PostgresServer;

/** Starts the servers of {@link PLACES} before the tests of a file, and closes them afterwards. */
export function usePlaces(): void {
  beforeAll(async () => {
    [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  });
  afterAll(async () => {
    await redis?.close();
    await postgres?.close();
  });
}

/** A storage of images, and the environment that names it. */
export interface Place {
  cwd: string;
  env: Record<string, string>;
  openStorage(): ImageStorage;
}

export async function directoryPlace(): Promise<Place> {
  const cwd = await temporaryDirectory();
  return { cwd, env: {}, openStorage: () => createFsBlobStore({ directory: join(cwd, "data") }) };
}

/** By name. */
export const PLACES: Record<string, () => Promise<Place>> = {
  "a directory": directoryPlace,
  Redis: async () => {
    const [cwd, prefix] = [await temporaryDirectory(), randomBytes(4).toString("hex")];
    const env = { OUTRIGGER_STORAGE: `${redis.url}?prefix=${prefix}` };
    return { cwd, env, openStorage: () => createRedisBlobStore({ url: redis.url, prefix }) };
  },
  "PostgreSQL and a directory": async () => {
    const [cwd, prefix] = [await temporaryDirectory(), `t${randomBytes(4).toString("hex")}`];
    const roles = {
      records: `${postgres.url}?prefix=${prefix}`,
      originals: "file:./data",
      renditions: "file:./data",
    };
    return {
      cwd,
      env: { OUTRIGGER_STORAGE: JSON.stringify(roles) },
      openStorage() {
        const pictures = createFsBlobStore({ directory: join(cwd, "data") });
        const records = createSqlBlobStore({ url: postgres.url, prefix, timeoutMs: 20_000 });
        return { records, originals: pictures, renditions: pictures };
      },
    };
  },
};

/** One store for all keys, each of which is where its role is. */
function joined(storage: ImageStorage): BlobStore {
  if (!("records" in storage)) return storage;
  const { records, originals } = storage;
  const storeOf = (key: string) => (key.endsWith("/original") ? originals : records);
  return {
    put: (key, body, options) => storeOf(key).put(key, body, options),
    get: (key, options) => storeOf(key).get(key, options),
    stat: (key) => storeOf(key).stat(key),
    delete: (key) => storeOf(key).delete(key),
    list: async (prefix) => {
      const pages = await Promise.all([records, originals].map((store) => store.list(prefix)));
      return { keys: pages.flatMap(({ keys }) => keys) };
    },
    async close() {
      await records.close();
      await originals.close();
    },
  };
}

export async function withStore<T>(place: Place, work: (store: BlobStore) => Promise<T>): Promise<T> {
  const store = joined(place.openStorage());
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Changes the bytes of a blob behind the store's back where it has files, else as another client of the service would. */
export async function spoil(store: BlobStore, key: string, change: (bytes: Buffer) => Buffer): Promise<void> {
  if (isLocalStore(store)) {
    const path = (await store.localPath(key)) ?? "";
    const changed = change(await readFile(path));
    await truncate(path, changed.length);
    const file = await open(path, "r+");
    await file.write(changed, 0, changed.length, 0);
    await file.close();
    return;
  }
  const body = (await store.get(key))?.body;
  if (!Buffer.isBuffer(body)) throw new Error(`${key} is not there in one piece`);
  await store.put(key, change(body));
}

export const cut = (bytes: Buffer) => bytes.subarray(0, bytes.length >> 1);
const rot = (bytes: Buffer) =>
  Buffer.concat([bytes.subarray(0, 100), Buffer.from("rot!"), bytes.subarray(104)]);
export const nonsense = (bytes: Buffer) => randomBytes(bytes.length);

/** Damages all images but the last in one way each, and the usage. @returns what is to be found. */
export async function damage(
  place: Place,
  images: readonly { id: string }[],
): Promise<Record<string, string>> {
  const [a = "", b = "", c = "", d = "", e = ""] = images.map(({ id }) => id);
  return withStore(place, async (store) => {
    const [usage = ""] = (await store.list("")).keys.filter((key) => key.startsWith("usage/"));
    const stray = randomBytes(16).toString("base64url");
    await spoil(store, `${a}/record`, cut);
    await spoil(store, `${b}/record`, nonsense);
    await spoil(store, `${c}/original`, rot);
    await spoil(store, `${d}/original`, cut);
    await store.delete(`${e}/original`);
    await store.put(`${stray}/original`, randomBytes(100));
    await spoil(store, usage, cut);
    return {
      [`${a}/record`]: "damaged-record",
      [`${b}/record`]: "damaged-record",
      [`${c}/record`]: "wrong-digest",
      [`${d}/record`]: "wrong-size",
      [`${e}/record`]: "missing-original",
      [`${stray}/original`]: "orphaned-bytes",
      [usage]: "damaged-usage",
    };
  });
}

/** Another directory with every blob. */
export async function backedUp(place: Place): Promise<string> {
  const directory = await temporaryDirectory();
  const backup = createFsBlobStore({ directory });
  await withStore(place, async (store) => {
    for (const key of (await store.list("")).keys) {
      const body = (await store.get(key))?.body;
      if (body !== undefined) await backup.put(key, body);
    }
  });
  await backup.close();
  return `file:${directory}`;
}
