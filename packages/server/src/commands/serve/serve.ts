import { lowLimitText, MIN_OPEN_FILES, openFilesLimit } from "../../cli/open-files.ts";
import { StartError } from "../../config/config-error.ts";
import { loadConfig, type ServeFlags } from "../../config/load-config.ts";
import type { ServerConfig } from "../../config/server-config.ts";
import { settingsOf } from "../../config/settings.ts";
import { createLog, type ServerLog } from "./logger.ts";
import { type StartedServer, startServer } from "./start-server.ts";

const SECOND_SIGNAL_EXIT = 130;

/** What `outrigger serve` has beside {@link ServeFlags}. */
interface DemoFlags extends ServeFlags {
  /** Serves the lookup where nothing is said of it, and puts samples into a database that is new. */
  demo?: boolean;
}

/**
 * `outrigger serve`: one line on the standard output once it listens, and one with the key to samples where there are some;
 * logs on the standard error; ends by SIGTERM or SIGINT. Rejects when it cannot start.
 */
export async function serve({ demo = false, ...flags }: DemoFlags): Promise<void> {
  const openFiles = openFilesLimit();
  if (openFiles !== null && openFiles < MIN_OPEN_FILES) throw new StartError(lowLimitText(openFiles));
  const config = await loadConfig(flags, process.env);
  const settings = settingsOf(demo ? withDemoLookup(config) : config);
  const log = createLog(settings.log);
  exitOnBug(log);
  if (demo && settings.lookup === false) {
    log.logger.warn(
      "The demonstration has no lookup: images are in no directory, so set OUTRIGGER_LOOKUP_DATABASE.",
    );
  }
  const server = await startServer(settings, log.logger, { withSamples: demo });
  endOnSignal(server, settings.shutdownMs, log);
  // The reader may end after the line, or before it: serving goes on.
  process.stdout.on("error", (err) => log.logger.debug({ err }, "nobody reads the standard output"));
  const sample = server.sampleKey === null ? "" : `Sample key: ${server.sampleKey}\n`;
  process.stdout.write(`Outrigger listens on ${server.url}\n${sample}`);
}

/** The lookup of a demonstration has its database beside the images: where those are in no directory, it has none. */
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
    if (isEnding) exitNow(SECOND_SIGNAL_EXIT);
    isEnding = true;
    log.logger.info({ signal }, "ending");
    setTimeout(() => {
      log.logger.error("did not end in time");
      exitNow(1);
    }, shutdownMs);
    server
      .close()
      .then(
        () => 0,
        (err) => {
          log.logger.error({ err }, "did not end well");
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

/** After an uncaught exception the state of the process is unknown: it ends, and its supervisor starts another. */
function exitOnBug(log: ServerLog): void {
  process.on("uncaughtException", (err) => {
    log.logger.fatal({ err }, "ended by a bug");
    log.flushNow();
    process.exit(1);
  });
}
