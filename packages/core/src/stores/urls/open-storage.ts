import type { BlobStore } from "../../contracts/blob-store.ts";
import type { StoreRole } from "../../contracts/observer.ts";
import { createFsBlobStore } from "../fs/fs-blob-store.ts";
import { createMemoryBlobStore } from "../memory/memory-blob-store.ts";
import { importPackage } from "./import-package.ts";
import {
  distinctTargets,
  type PostgresTarget,
  type RedisTarget,
  type S3Target,
  type SharedTarget,
  type StorageTarget,
  type StorageTargets,
} from "./storage-target.ts";
import { parseStorage, type StorageUrls } from "./storage-urls.ts";

/** The packages of the storages that are installed separately. Each is loaded when a URL names its storage. */
export interface Drivers {
  postgres(): Promise<{ createSqlBlobStore(options: Omit<PostgresTarget, "kind">): BlobStore }>;
  redis(): Promise<{ createRedisBlobStore(options: Omit<RedisTarget, "kind">): BlobStore }>;
  s3(): Promise<{ createS3BlobStore(options: Omit<S3Target, "kind">): BlobStore }>;
}

const INSTALLED: Drivers = {
  postgres: () => importPackage("Storage in PostgreSQL", ["@outrigger/sql"]),
  redis: () => importPackage("Storage in Redis", ["@outrigger/redis"]),
  s3: () => importPackage("Storage in S3", ["@outrigger/s3", "@aws-sdk/client-s3"]),
};

/**
 * Opens the storage that URLs name: one for all roles, one per role, or either as text of the form of `OUTRIGGER_STORAGE`. Equal
 * URLs share a store. Loads the packages of the named storages only, and connects on demand. Closing the service closes the
 * stores. Rejects with a `TypeError` for a URL of another form, and with `host_misuse` if a package is not installed: the message
 * has the line that installs it. No message quotes a URL.
 * @example
 * const images = createImages({ storage: await openStorage("redis://127.0.0.1:6379"), renderer, secret });
 */
export async function openStorage(storage: StorageUrls): Promise<Record<StoreRole, BlobStore>> {
  const { stores } = await openTargets(parseStorage(storage), async ({ target }) => ({
    store: await openTarget(target, INSTALLED),
  }));
  return stores;
}

/** Opens each distinct target once. If one fails, the others are closed. */
export async function openTargets<Opened extends { store: BlobStore }>(
  targets: StorageTargets,
  open: (shared: SharedTarget) => Promise<Opened>,
): Promise<{ stores: Record<StoreRole, BlobStore>; opened: Opened[]; close(): Promise<void> }> {
  const opened: Opened[] = [];
  const found: Partial<Record<StoreRole, BlobStore>> = {};
  const close = async () => {
    for (const { store } of opened) await store.close();
  };
  try {
    for (const shared of distinctTargets(targets)) {
      const each = await open(shared);
      opened.push(each);
      for (const role of shared.roles) found[role] = each.store;
    }
  } catch (error) {
    await close();
    throw error;
  }
  const { records, originals, renditions } = found;
  if (!records || !originals || !renditions) throw new Error("Unreachable: every role has a target");
  return { stores: { records, originals, renditions }, opened, close };
}

/** Opens a store without contacting it. */
export async function openTarget(target: StorageTarget, drivers: Drivers): Promise<BlobStore> {
  switch (target.kind) {
    case "file":
      return createFsBlobStore({ directory: target.directory });
    case "memory": {
      const { kind: _, ...options } = target;
      return createMemoryBlobStore(options);
    }
    case "postgres": {
      const { kind: _, ...options } = target;
      return (await drivers.postgres()).createSqlBlobStore(options);
    }
    case "redis": {
      const { kind: _, ...options } = target;
      return (await drivers.redis()).createRedisBlobStore(options);
    }
    case "s3": {
      const { kind: _, ...options } = target;
      return (await drivers.s3()).createS3BlobStore(options);
    }
  }
}
