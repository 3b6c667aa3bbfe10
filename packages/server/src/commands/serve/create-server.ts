import type { ServerConfig } from "../../config/config-rules.ts";

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
 * @throws Error if the server cannot start (packages missing, port in use, data directory not usable), with a message of one
 * line.
 * @example
 * const server = await createServer({ port: 0, data: "./data", log: { level: "silent" } });
 * await fetch(server.url);
 * await server.close();
 */
export async function createServer(config: ServerConfig = {}): Promise<RunningServer> {
  // Loaded here: the packages of a server are optional, and `require("outrigger")` allows no top-level await.
  const [{ checkConfig }, { settingsOf }, { loadServer }] = await Promise.all([
    import("../../config/check-config.ts"),
    import("../../config/settings.ts"),
    import("./load-server.ts"),
  ]);
  const settings = settingsOf(checkConfig(config, "The configuration"));
  const { log, start } = await loadServer(settings);
  const server = await start();
  return {
    url: server.url,
    metricsUrl: server.metricsUrl,
    async close() {
      await server.close();
      await log.flush();
    },
  };
}
