import type { StoreRole } from "@outrigger/core";
import {
  type BlobStore,
  type Drivers,
  isShared,
  openTarget as openStore,
  openTargets,
  type RateLimiter,
  type RedisTarget,
  ROLES,
  type SharedTarget,
  type StorageTargets,
} from "@outrigger/core/stores";
import type { RedisBlobStore, RedisBlobStoreOptions } from "@outrigger/redis";
import type { S3BlobStore } from "@outrigger/s3";
import { loadPart } from "../cli/parts.ts";
import { StartError } from "../config/config-error.ts";
import { storageError, withStorageError } from "./storage-error.ts";

/** An open store with its roles. */
export interface OpenTarget extends SharedTarget {
  store: BlobStore;
  /**
   * Warnings about data that the store could lose, each with its remedy.
   * Rejects with a StartError if the store does not respond or cannot serve its roles.
   */
  warnings(): Promise<string[]>;
}

export interface OpenStorage {
  /** Roles with the same URL share one store. */
  stores: Record<StoreRole, BlobStore>;
  /** Each distinct store once. */
  targets: OpenTarget[];
  close(): Promise<void>;
}

/** Called with errors of a connection that reconnects automatically. */
type OnTrouble = (error: unknown) => void;

/** Opens the configured stores without contacting them. @throws StartError; nothing stays open. */
export async function openStorage(wanted: StorageTargets, onTrouble?: OnTrouble): Promise<OpenStorage> {
  const { opened, ...storage } = await openTargets(wanted, (shared) => openTarget(shared, onTrouble));
  return { ...storage, targets: opened };
}

/**
 * A rate limiter shared by all processes on the same records. It uses the first Redis among the stores.
 * @returns `null` if processes cannot share the records, or no store is in Redis.
 */
export async function openRateLimiter(
  targets: StorageTargets,
  onTrouble?: OnTrouble,
): Promise<RateLimiter | null> {
  const redis = sharedRedis(targets);
  if (redis === null) return null;
  const { createRedisRateLimiter } = await loadRedis();
  const { ttlMs: _, ...options } = redisOptions(redis, onTrouble);
  return createRedisRateLimiter(options);
}

/** A cache of small values, shared like the counts of {@link openRateLimiter}; `null` in the same cases. `disconnect()` closes it. */
export async function openVerdictCache(targets: StorageTargets, onTrouble?: OnTrouble) {
  const redis = sharedRedis(targets);
  if (redis === null) return null;
  const { createRedisKeyv } = await loadRedis();
  const { prefix, ttlMs: _, ...options } = redisOptions(redis, onTrouble);
  return createRedisKeyv({ ...options, ...(prefix === undefined ? {} : { namespace: prefix }) });
}

function sharedRedis(targets: StorageTargets): RedisTarget | null {
  if (!isShared(targets.records)) return null;
  return ROLES.map((role) => targets[role]).find((target) => target.kind === "redis") ?? null;
}

/** Whether a store holds renditions only, and so may fail. */
export function isCache(roles: readonly StoreRole[]): boolean {
  return roles.every((role) => role === "renditions");
}

/** A store that cannot be opened yet: each call tries again. */
function lateStore(open: () => Promise<BlobStore>): BlobStore {
  let opened: BlobStore | null = null;
  const store = async () => (opened ??= await open());
  return {
    put: async (key, body, options) => (await store()).put(key, body, options),
    get: async (key, options) => (await store()).get(key, options),
    stat: async (key) => (await store()).stat(key),
    delete: async (key) => (await store()).delete(key),
    list: async (prefix, options) => (await store()).list(prefix, options),
    close: async () => opened?.close(),
  };
}

/** Opens one target. @throws StartError */
export async function openTarget(shared: SharedTarget, onTrouble?: OnTrouble): Promise<OpenTarget> {
  const { target, roles } = shared;
  const isLost = target.kind === "memory" && roles.includes("records");
  let warnings = async () => (isLost ? [IN_MEMORY] : []);
  // Loaded when a URL names them, since many servers and most commands use none of them.
  const drivers: Drivers = {
    async postgres() {
      const { createSqlBlobStore } = await loadPart("postgres", () => import("@outrigger/sql"));
      return {
        createSqlBlobStore: (options) => warned(createSqlBlobStore(options), (store) => store.warnings()),
      };
    },
    async redis() {
      const { createRedisBlobStore } = await loadRedis();
      return {
        createRedisBlobStore: (options) =>
          warned(createRedisBlobStore({ ...options, ...onErrorOf(onTrouble) }), (store) =>
            redisWarnings(store, roles),
          ),
      };
    },
    async s3() {
      const { createS3BlobStore } = await loadPart("s3", () => import("@outrigger/s3"));
      return {
        createS3BlobStore: (options) =>
          warned(createS3BlobStore(options), (store) => requireCapable(store, roles)),
      };
    },
  };
  function warned<Store extends BlobStore>(store: Store, check: (store: Store) => Promise<string[]>): Store {
    warnings = () => withStorageError(shared, check(store));
    return store;
  }
  try {
    const opening = () => openStore(target, drivers);
    const store = await opening().catch((error) => {
      if (isCache(roles) && target.kind === "file") return lateStore(opening);
      throw error;
    });
    return { ...shared, store, warnings: () => warnings() };
  } catch (cause) {
    throw storageError(target, roles, cause);
  }
}

const loadRedis = () => loadPart("redis", () => import("@outrigger/redis"));

function redisOptions({ kind: _, ...options }: RedisTarget, onTrouble?: OnTrouble): RedisBlobStoreOptions {
  return { ...options, ...onErrorOf(onTrouble) };
}

function onErrorOf(onTrouble: OnTrouble | undefined) {
  return onTrouble === undefined ? {} : { onError: onTrouble };
}

const IN_MEMORY =
  "All images are in memory and are lost when the process ends. To keep them, set storage or data, or omit both.";

const RECORDS_IN_S3 =
  "The records are in object storage, so each read of an image, and each change, waits for it. Set storage.records to PostgreSQL, Redis or a directory.";

/** Renditions need no warning: a lost rendition is rendered again. */
async function redisWarnings(store: RedisBlobStore, roles: readonly StoreRole[]): Promise<string[]> {
  return isCache(roles) ? [] : await store.warnings();
}

/** Without conditional writes, uploads would overwrite each other, so the store rejects every upload. */
async function requireCapable(store: S3BlobStore, roles: readonly StoreRole[]): Promise<string[]> {
  const { conditionalCreate, compareAndSet, versioned } = await store.capabilities();
  const refuse = (header: string, role: StoreRole) => {
    const where = versioned ? " in a bucket with versions" : "";
    const other = versioned ? ", or use a new bucket without versions" : "";
    throw new StartError(
      `The object storage has no conditional writes${where} (${header}): store the ${role} in Redis or in a directory (storage.${role})${other}`,
    );
  };
  if (roles.includes("records") && !compareAndSet) refuse("If-Match", "records");
  if (roles.includes("originals") && !conditionalCreate) refuse("If-None-Match", "originals");
  return roles.includes("records") ? [RECORDS_IN_S3] : [];
}
