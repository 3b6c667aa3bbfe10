import { fileURLToPath } from "node:url";
import { createViteServer } from "vitest/node";
import { findProgram } from "./programs.mjs";

/** @import { PostgresServer } from "../../test/support/postgres-server.ts" */
/** @import { RedisServer, RedisServerOptions } from "../../test/support/redis-server.ts" */
/** @import { S3Server } from "../../test/support/s3-server.ts" */

/** A separate bucket on a separate server. @typedef {S3Server & { bucket: string }} S3Bucket */

/** @returns {Promise<RedisServer | null>} `null` where Redis is not installed. */
export async function startRedisServer(/** @type {RedisServerOptions} */ options = {}) {
  const program = findProgram("redis-server");
  if (program === null) return null;
  process.env.OUTRIGGER_REDIS_SERVER = program;
  const { startRedis } = await support(() => import("../../test/support/redis-server.ts"), "redis-server.ts");
  return startRedis(options);
}

/** @returns {Promise<PostgresServer | null>} `null` where PostgreSQL is not installed. */
export async function startPostgresServer() {
  const program = findProgram("postgres");
  if (program === null) return null;
  process.env.OUTRIGGER_POSTGRES = program;
  const name = "postgres-server.ts";
  const { startPostgres } = await support(() => import("../../test/support/postgres-server.ts"), name);
  return startPostgres();
}

/** @returns {Promise<S3Bucket | null>} `null` where Ceph's object gateway is not installed. */
export async function startS3Bucket() {
  const program = findProgram("radosgw");
  if (program === null) return null;
  process.env.OUTRIGGER_RADOSGW = program;
  // The SDK's warnings about old versions of Node do not belong into the output; children inherit this setting.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  const { startS3Server } = await support(() => import("../../test/support/s3-server.ts"), "s3-server.ts");
  const server = await startS3Server();
  return { ...server, bucket: await server.createBucket() };
}

/**
 * Loads a module of the tests' support, which is TypeScript, as the tests do.
 * @template Module
 * @param {() => Promise<Module>} _type Only for its type; never called.
 * @param {string} name
 */
async function support(_type, name) {
  const vite = await createViteServer({
    configFile: false,
    root: fileURLToPath(new URL("../..", import.meta.url)),
    logLevel: "error",
    appType: "custom",
    server: { middlewareMode: true, watch: null, ws: false, hmr: false },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    const module = await vite.ssrLoadModule(`/test/support/${name}`);
    return /** @type {Module} */ (module); // Of that file, whose path is the same.
  } finally {
    await vite.close();
  }
}
