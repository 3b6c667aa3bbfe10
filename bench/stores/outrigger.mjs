import { createFsBlobStore } from "@outrigger/core";
import { required } from "./kinds.mjs";

/** @import { BlobStore } from "@outrigger/core" */
/** @import { Keeper, StoreOptions } from "./kinds.mjs" */

/** @param {StoreOptions} options */
export async function inRedis(options) {
  const { createRedisBlobStore } = await import("@outrigger/redis");
  // Removed data must leave the server's memory soon after each turn.
  return keeperOf(createRedisBlobStore({ url: required(options, "url"), supersededMs: 1000 }));
}

/** @param {StoreOptions} options */
export async function inS3(options) {
  const { createS3BlobStore } = await import("@outrigger/s3");
  const [bucket, endpoint] = [required(options, "bucket"), required(options, "endpoint")];
  return keeperOf(createS3BlobStore({ bucket, endpoint, credentials: required(options, "credentials") }));
}

/** @param {StoreOptions} options */
export async function inDirectory(options) {
  return keeperOf(createFsBlobStore({ directory: required(options, "directory") }));
}

/**
 * @param {BlobStore} store
 * @returns {Keeper}
 */
function keeperOf(store) {
  return {
    put: (key, body) => store.put(key, body, { ifRevision: null }),
    async get(key) {
      const found = await store.get(key);
      if (found === null) throw new Error(`There is no ${key}`);
      return found.body;
    },
    remove: (key) => store.delete(key),
    close: () => store.close(),
  };
}
