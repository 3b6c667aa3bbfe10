import { checkConfig } from "../../config/check-config.ts";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { createLog } from "./logger.ts";
import { startServer } from "./start-server.ts";

/** A listening server. */
export interface RunningServer {
  /** `http://address:port`, without a trailing slash. */
  url: string;
  /** `http://address:port/metrics`; `null` if metrics are off. */
  metricsUrl: string | null;
  /**
   * Stops the server: refuses new connections, finishes requests in progress, and cuts the rest after `shutdownMs`.
   * Resolves when everything is released. May be called twice.
   */
  close(): Promise<void>;
}

/**
 * Starts the whole service inside this process, as `outrigger serve` does, but without reading files or the environment
 * and without signal listeners.
 * @throws TypeError for an invalid configuration; its message names every invalid key.
 * @throws Error if the server cannot start (port in use, data directory not usable), with a message of one line.
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
