import {
  type BlobStore,
  createFsBlobStore,
  createMemoryBlobStore,
  type RateLimiter,
  type StoreRole,
} from "@outrigger/core";
import type { RedisBlobStore, RedisBlobStoreOptions } from "@outrigger/redis";
import type { S3BlobStore } from "@outrigger/s3";
import { loadPart } from "../cli/parts.ts";
import { StartError } from "../config/config-error.ts";
import {
  distinctTargets,
  isShared,
  type RedisTarget,
  ROLES,
  type S3Target,
  type SharedTarget,
  type StorageTargets,
} from "../config/targets/storage-target.ts";
import { storageError } from "./storage-error.ts";

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
  const targets: OpenTarget[] = [];
  const close = async () => {
    for (const { store } of targets) await store.close();
  };
  try {
    for (const shared of distinctTargets(wanted)) targets.push(await openTarget(shared, onTrouble));
  } catch (error) {
    await close();
    throw error;
  }
  const storeOf = (role: StoreRole) => {
    const found = targets.find(({ roles }) => roles.includes(role));
    if (found === undefined) throw new Error(`No store for ${role}`);
    return found.store;
  };
  return {
    stores: {
      records: storeOf("records"),
      originals: storeOf("originals"),
      renditions: storeOf("renditions"),
    },
    targets,
    close,
  };
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

/** Opens one target. @throws StartError */
export async function openTarget(shared: SharedTarget, onTrouble?: OnTrouble): Promise<OpenTarget> {
  const { target, roles } = shared;
  try {
    switch (target.kind) {
      case "file":
        return { ...shared, store: createFsBlobStore({ directory: target.directory }), warnings: noWarnings };
      case "memory": {
        const { kind: _, ...options } = target;
        return { ...shared, store: createMemoryBlobStore(options), warnings: noWarnings };
      }
      case "postgres": {
        const { createSqlBlobStore } = await loadPart("postgres", () => import("@outrigger/sql"));
        const { kind: _, ...options } = target;
        const store = createSqlBlobStore(options);
        return { ...shared, store, warnings: () => withStorageError(shared, store.warnings()) };
      }
      case "redis": {
        const { createRedisBlobStore } = await loadRedis();
        const store = createRedisBlobStore(redisOptions(target, onTrouble));
        return { ...shared, store, warnings: () => withStorageError(shared, redisWarnings(store, roles)) };
      }
      case "s3": {
        const store = await openS3(target);
        return { ...shared, store, warnings: () => withStorageError(shared, requireCapable(store, roles)) };
      }
    }
  } catch (cause) {
    throw storageError(target, roles, cause);
  }
}

/** Loads the Redis client here only, since many servers and most commands do not use it. */
const loadRedis = () => loadPart("redis", () => import("@outrigger/redis"));

function redisOptions({ kind: _, ...options }: RedisTarget, onTrouble?: OnTrouble): RedisBlobStoreOptions {
  return { ...options, ...(onTrouble === undefined ? {} : { onError: onTrouble }) };
}

const noWarnings = async () => [];

async function withStorageError(
  { target, roles }: SharedTarget,
  warnings: Promise<string[]>,
): Promise<string[]> {
  try {
    return await warnings;
  } catch (cause) {
    throw storageError(target, roles, cause);
  }
}

/** Renditions need no warning: a lost rendition is rendered again. */
async function redisWarnings(store: RedisBlobStore, roles: readonly StoreRole[]): Promise<string[]> {
  return roles.some((role) => role !== "renditions") ? await store.warnings() : [];
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
  return [];
}

/** Opens a store in S3. Loads the SDK here only, since most servers do not use it. @throws StartError if the SDK is missing. */
export async function openS3({ kind: _, ...options }: S3Target): Promise<S3BlobStore> {
  const { createS3BlobStore } = await loadPart("s3", () => import("@outrigger/s3"));
  return createS3BlobStore(options);
}
