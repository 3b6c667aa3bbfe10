import { randomBytes } from "node:crypto";
import { open, readFile, truncate } from "node:fs/promises";
import { join } from "node:path";
import { createFsBlobStore } from "@outrigger/core";
import { type BlobStore, isLocalStore } from "@outrigger/core/stores";
import { createRedisBlobStore } from "@outrigger/redis";
import { afterAll, beforeAll } from "vitest";
import { temporaryDirectory } from "../../packages/server/test/outrigger-process.ts";
import { type RedisServer, startRedis } from "./redis-server.ts";

let redis: RedisServer;

/** Starts the server of {@link PLACES} before the tests of a file, and closes it afterwards. */
export function usePlaces(): void {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    await redis?.close();
  });
}

/** A storage of images, and the environment that names it. */
export interface Place {
  cwd: string;
  env: Record<string, string>;
  openStorage(): BlobStore;
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
};

export async function withStore<T>(place: Place, work: (store: BlobStore) => Promise<T>): Promise<T> {
  const store = place.openStorage();
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
