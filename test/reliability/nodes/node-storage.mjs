// The stores of a node, as a StorageSpec of storages.ts names them; broken on purpose where the test must prove that it
// finds the fault.
import { createFsBlobStore } from "@outrigger/core";
import { createRedisBlobStore } from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import { createSqlBlobStore } from "@outrigger/sql";

const STALE_MS = 60_000;

const MUTANTS = {
  // Caches a record for a minute.
  "stale records": (store) => {
    const known = new Map();
    return {
      async get(key, options) {
        const read = known.get(key);
        if (read !== undefined && Date.now() < read.untilMs) return read.blob;
        const blob = await store.get(key, options);
        if (key.endsWith("/record")) known.set(key, { blob, untilMs: Date.now() + STALE_MS });
        return blob;
      },
    };
  },
  // Every node ignores the leases of others.
  "no leases": () => ({ acquireLease: undefined, renewLease: undefined, releaseLease: undefined }),
  // Overwrites whatever is stored.
  "unconditional writes": (store) => ({
    put: (key, body, { ifRevision: _, ...options } = {}) => store.put(key, body, options),
  }),
};

/**
 * @param {{ data?: string, redis?: object, postgres?: object, s3?: object }} spec two: records in the database, pictures in S3
 * @returns the roles, and how many calls have named an ID
 */
export function openStorage({ data, redis, postgres, s3 }, mutant) {
  const counts = new Map();
  const change = mutant === undefined ? () => ({}) : MUTANTS[mutant];
  const open = (store) => counted({ ...store, ...change(store) }, counts);
  const fsStore = data === undefined ? null : open(createFsBlobStore({ directory: data }));
  const redisStore = redis === undefined ? null : open(createRedisBlobStore(redis));
  const sqlStore = postgres === undefined ? null : open(createSqlBlobStore(postgres));
  const s3Store = s3 === undefined ? null : open(createS3BlobStore({ ...s3, timeoutMs: 10_000 }));
  const records = fsStore ?? redisStore ?? sqlStore ?? s3Store;
  const pictures = s3Store ?? redisStore ?? fsStore;
  return {
    roles: { records, originals: pictures, renditions: pictures },
    calls: (id) => counts.get(id) ?? 0,
  };
}

/** The store with the mutant's fault; its calls are counted by the ID in their first argument. */
function counted(store, counts) {
  const members = Object.entries(store).filter(([, value]) => value !== undefined);
  const count = (method, ...args) => {
    const id = /[A-Za-z0-9_-]{22}/.exec(String(args[0]))?.[0];
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
    return method(...args);
  };
  return Object.fromEntries(
    members.map(([name, value]) => [name, typeof value === "function" ? count.bind(null, value) : value]),
  );
}
