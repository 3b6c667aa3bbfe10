import { SIGNAL_EXIT } from "../../cli/interruption.ts";
import { lowLimitText, MIN_OPEN_FILES, openFilesLimit } from "../../cli/open-files.ts";
import { StartError } from "../../config/config-error.ts";
import type { ServerConfig } from "../../config/config-rules.ts";
import { loadConfig, type ServeFlags } from "../../config/load-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { loadServer } from "./load-server.ts";
import type { ServerLog } from "./logger.ts";
import type { StartedServer } from "./start-server.ts";

/** Options of `outrigger serve` in addition to {@link ServeFlags}. */
interface StartFlags extends ServeFlags {
  /** Checks what the server needs, and does not start it. */
  check?: boolean;
  /** Serves the lookup unless configured otherwise, and adds samples to a new database. */
  demo?: boolean;
}

/**
 * `outrigger serve`: runs the server until SIGTERM or SIGINT. Prints its address and, with samples, their key on standard
 * output; logs on standard error. Rejects if the server cannot start.
 */
export async function serve({ check = false, demo = false, ...flags }: StartFlags): Promise<void> {
  const openFiles = openFilesLimit();
  if (openFiles !== null && openFiles < MIN_OPEN_FILES) throw new StartError(lowLimitText(openFiles));
  const config = await loadConfig(flags, process.env);
  const settings = settingsOf(demo ? withDemoLookup(config) : config);
  if (check) return (await import("./check.ts")).check(settings);
  const { log, start } = await loadServer(settings);
  exitOnBug(log);
  if (demo && settings.lookup === false) {
    log.logger.warn(
      "The demonstration has no lookup, because the images are not in a directory: set OUTRIGGER_LOOKUP_DATABASE.",
    );
  }
  const server = await start({ withSamples: demo });
  endOnSignal(server, settings.shutdownMs, log);
  // The reader may end before or after the line; the server continues.
  process.stdout.on("error", (err) => log.logger.debug({ err }, "standard output has no reader"));
  const sample = server.sampleKey === null ? "" : `Sample key: ${server.sampleKey}\n`;
  process.stdout.write(`Outrigger listens on ${server.url}\n${sample}`);
}

/** The demonstration stores the lookup's database beside the images, so it has no lookup without a directory. */
function withDemoLookup(config: ServerConfig): ServerConfig {
  const isInDirectory = typeof config.storage !== "object" && /^file:|^$/i.test(config.storage ?? "");
  return config.lookup === undefined && isInDirectory ? { ...config, lookup: {} } : config;
}

function endOnSignal(server: StartedServer, shutdownMs: number, log: ServerLog): void {
  let isEnding = false;
  const exitNow = (code: number): never => {
    log.flushNow();
    process.exit(code);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    if (isEnding) exitNow(SIGNAL_EXIT);
    isEnding = true;
    log.logger.info({ signal }, "ending");
    setTimeout(() => {
      log.logger.error("shutdown timed out");
      exitNow(1);
    }, shutdownMs);
    server
      .close()
      .then(
        () => 0,
        (err) => {
          log.logger.error({ err }, "shutdown failed");
          return 1;
        },
      )
      .then(async (code) => {
        await log.flush();
        process.exit(code);
      });
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
}

/** After an uncaught exception the state of the process is unknown: it exits, and its supervisor restarts it. */
function exitOnBug(log: ServerLog): void {
  process.on("uncaughtException", (err) => {
    log.logger.fatal({ err }, "exiting after an uncaught exception");
    log.flushNow();
    process.exit(1);
  });
}
