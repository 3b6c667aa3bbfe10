import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { createChecks } from "./check.mjs";
import { startLoad } from "./load.mjs";
import { startServer } from "./server-process.mjs";

/** @import { Checks } from "./check.mjs" */
/** @import { Corpus } from "./corpus.mjs" */
/** @import { Load } from "./load.mjs" */
/** @import { ServerProcess } from "./server-process.mjs" */
/** @import { Settings } from "./settings.mjs" */
/** @import { ServerKind, ServerOptions } from "../servers/kinds.mjs" */

/**
 * What a row works with.
 * @typedef {object} Bench
 * @property {Settings} settings
 * @property {Corpus} corpus
 * @property {Checks} checks
 * @property {Load} load
 * @property {() => Load} startLoad A second client; ends with the row.
 * @property {(kind: ServerKind, options?: ServerOptions) => Promise<ServerProcess>} start Ends with the row. A server
 *   that is given neither file nor directory gets an empty directory.
 */

/**
 * A row of the table. What it started is ended when it is done, whatever comes.
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
        servers.push(server);
        return server;
      },
    });
    return { result, checked: checks.count };
  } finally {
    for (const each of loads) each.close();
    await Promise.all(servers.map((server) => server.stop()));
  }
}
