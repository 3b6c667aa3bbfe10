import { checkConfig } from "../../config/check-config.ts";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { createLog } from "./logger.ts";
import { startServer } from "./start-server.ts";

/** A server that listens. */
export interface RunningServer {
  /** `http://address:port`, without a trailing slash. */
  url: string;
  /** `http://address:port/metrics`, `null` where metrics are off. */
  metricsUrl: string | null;
  /**
   * Ends it: no new connections, what is under way finishes, at the latest after `shutdownMs` the rest is cut.
   * Resolves when everything is released. Calling it twice is allowed.
   */
  close(): Promise<void>;
}

/**
 * Starts the whole service inside this process, as `outrigger serve` does, but without reading files or the environment
 * and without listening to signals: the process stays the caller's.
 * @throws TypeError for a configuration that cannot be; its message names every key that is wrong.
 * @throws Error when the server cannot start where it is (port in use, data directory not usable), in one line.
 * @example
 * const server = await createServer({ port: 0, data: "./data", log: { level: "silent" } });
 * await fetch(server.url);
 * await server.close();
 */
export async function createServer(config: ServerConfig = {}): Promise<RunningServer> {
  const settings = settingsOf(checkConfig(config, "The configuration"));
  const log = createLog(settings.log);
  const server = await startServer(settings, log.logger);
  return {
    url: server.url,
    metricsUrl: server.metricsUrl,
    async close() {
      await server.close();
      await log.flush();
    },
  };
}
