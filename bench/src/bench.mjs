import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createChecks } from "./check.mjs";
import { startLoad } from "./load.mjs";
import { startServer } from "./server-process.mjs";
import { startPostgresServer, startRedisServer, startS3Bucket } from "./test-servers.mjs";

/** @import { Checks } from "./check.mjs" */
/** @import { Corpus } from "./corpus.mjs" */
/** @import { Load } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */
/** @import { Settings } from "./settings.mjs" */
/** @import { S3Bucket } from "./test-servers.mjs" */
/** @import { ServerKind, ServerOptions } from "../servers/kinds.mjs" */
/** @import { PostgresServer } from "../../test/support/postgres-server.ts" */
/** @import { RedisServer, RedisServerOptions } from "../../test/support/redis-server.ts" */

/**
 * The tools of a row.
 * @typedef {object} Bench
 * @property {Settings} settings
 * @property {Corpus} corpus
 * @property {Checks} checks
 * @property {Load} load
 * @property {() => Load} startLoad A second client; ends with the row.
 * @property {(kind: ServerKind, options?: ServerOptions) => Promise<ServerProcess>} start Ends with the row. A server
 *   that is given neither file nor directory gets an empty directory.
 * @property {(options?: RedisServerOptions) => Promise<RedisServer | null>} startRedis Ends with the row; `null` where Redis
 *   is not installed.
 * @property {() => Promise<PostgresServer | null>} startPostgres Ends with the row; `null` where PostgreSQL is not installed.
 * @property {(name: string) => Promise<string>} makeDirectory A new one, removed at the end.
 * @property {() => Promise<S3Bucket | null>} startS3 A bucket of a server that ends with the row; `null` where Ceph's object
 *   gateway is not installed.
 */

/**
 * Runs a row of the table. Everything that it started is stopped afterwards, whatever the outcome.
 * @template Result
 * @param {string} directory
 * @param {Settings} settings
 * @param {Corpus} corpus
 * @param {(bench: Bench) => Promise<Result>} row
 * @returns {Promise<{ result: Result, checked: number }>}
 */
export async function withBench(directory, settings, corpus, row) {
  /** @type {{ stop(): Promise<void> }[]} */
  const clients = [];
  /** @type {(() => Promise<void>)[]} */
  const endings = [];
  const load = startLoad();
  const loads = [load];
  const checks = createChecks();
  try {
    const result = await row({
      settings,
      corpus,
      checks,
      load,
      startLoad() {
        const another = startLoad();
        loads.push(another);
        return another;
      },
      async start(kind, options = {}) {
        const isServingFiles = options.file !== undefined || options.directory !== undefined;
        const own = isServingFiles
          ? options
          : { ...options, directory: await mkdtemp(join(directory, `${kind}-`)) };
        const server = await startServer(kind, own, settings.profileDirectory);
        clients.push(server);
        return server;
      },
      makeDirectory: (name) => mkdtemp(join(directory, `${name}-`)),
      async startRedis(options) {
        const redis = await startRedisServer(options);
        if (redis !== null) endings.push(() => redis.close());
        return redis;
      },
      async startPostgres() {
        const postgres = await startPostgresServer();
        if (postgres !== null) endings.push(() => postgres.close());
        return postgres;
      },
      async startS3() {
        const s3 = await startS3Bucket();
        if (s3 !== null) endings.push(() => s3.stop());
        return s3;
      },
    });
    return { result, checked: checks.count };
  } finally {
    for (const each of loads) each.close();
    await Promise.all(clients.map((client) => client.stop()));
    // After the processes that use them.
    await Promise.all(endings.map((end) => end()));
  }
}
