import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createChecks } from "./check.mjs";
import { startLoad } from "./load.mjs";
import { findProgram } from "./programs.mjs";
import { startServer } from "./server-process.mjs";
import { loadTypeScript } from "./typescript.mjs";

/** @import { Checks } from "./check.mjs" */
/** @import { Corpus } from "./corpus.mjs" */
/** @import { Load } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */
/** @import { Settings } from "./settings.mjs" */
/** @import { ServerOptions } from "../servers/required.mjs" */

/**
 * The tools of a row. What they start ends with the row.
 * @typedef {object} Bench
 * @property {Settings} settings
 * @property {Corpus} corpus
 * @property {Checks} checks
 * @property {Load} load
 * @property {(kind: string, options?: ServerOptions) => Promise<ServerProcess>} start A server that is given neither file nor
 *   directory gets an empty directory.
 * @property {(name: string) => Promise<string>} makeDirectory A new one, removed at the end.
 * @property {(name: "redis" | "postgres") => Promise<{ url: string } | null>} startStore `null` where the program is not installed.
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
  /** @type {ServerProcess[]} */
  const servers = [];
  /** @type {{ close(): Promise<void> }[]} */
  const stores = [];
  const load = startLoad();
  const checks = createChecks();
  const makeDirectory = (/** @type {string} */ name) => mkdtemp(join(directory, `${name}-`));
  try {
    const result = await row({
      ...{ settings, corpus, checks, load, makeDirectory },
      async start(kind, options = {}) {
        const isServingFiles = options.file !== undefined || options.directory !== undefined;
        const own = isServingFiles ? options : { ...options, directory: await makeDirectory("server") };
        const server = await startServer(kind, own);
        servers.push(server);
        return server;
      },
      async startStore(name) {
        const store = await (name === "redis" ? startRedis() : startPostgres());
        if (store !== null) stores.push(store);
        return store;
      },
    });
    return { result, checked: checks.count };
  } finally {
    load.close();
    await Promise.all(servers.map((server) => server.stop()));
    // After the processes that use them.
    await Promise.all(stores.map((store) => store.close()));
  }
}

async function startRedis() {
  if (findProgram("redis-server") === null) return null;
  const path = "/test/support/redis-server.ts";
  return (await loadTypeScript(() => import("../../test/support/redis-server.ts"), path)).startRedis();
}

async function startPostgres() {
  if (findProgram("postgres") === null) return null;
  const path = "/test/support/postgres-server.ts";
  return (await loadTypeScript(() => import("../../test/support/postgres-server.ts"), path)).startPostgres();
}
