import { loadConfig, type ServeFlags } from "./load-config.ts";
import { createLog, type ServerLog } from "./logger.ts";
import { settingsOf } from "./settings.ts";
import { type StartedServer, startServer } from "./start-server.ts";

const SECOND_SIGNAL_EXIT = 130;

/**
 * `outrigger serve`: one line on the standard output once it listens, logs on the standard error, ends by SIGTERM or
 * SIGINT. Rejects when it cannot start.
 */
export async function serve(flags: ServeFlags): Promise<void> {
  const settings = settingsOf(await loadConfig(flags, process.env));
  const log = createLog(settings.log);
  exitOnBug(log);
  const server = await startServer(settings, log.logger);
  endOnSignal(server, settings.shutdownMs, log);
  // Whoever started us may have stopped reading after the line, or before it: no reason to stop serving.
  process.stdout.on("error", (err) => log.logger.debug({ err }, "nobody reads the standard output"));
  process.stdout.write(`Outrigger listens on ${server.url}\n`);
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

/** After an exception that nobody caught, the state of the process is unknown: it ends, and whoever runs it starts another. */
function exitOnBug(log: ServerLog): void {
  process.on("uncaughtException", (err) => {
    log.logger.fatal({ err }, "ended by a bug");
    log.flushNow();
    process.exit(1);
  });
}
