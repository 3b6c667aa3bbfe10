import pino, { type Logger } from "pino";
import { printable } from "../../cli/print.ts";
import type { ServerSettings } from "../../config/settings.ts";

type LogSettings = Pick<ServerSettings["log"], "level">;

export interface ServerLog {
  logger: Logger;
  /** Resolves when everything has been written, or after a second without a reader. */
  flush(): Promise<void>;
  /** For a process that must exit now: writes the buffered lines, possibly out of order. */
  flushNow(): void;
}

/** Bytes buffered for a slow reader of standard error; further lines are dropped. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const FLUSH_MS = 1000;

/**
 * Logs to standard error, as JSON by pino or, in a terminal, as lines for people. Writes asynchronously, so that a reader that hangs does
 * not block the server.
 */
export function createLog({ level }: LogSettings): ServerLog {
  // Lines are still written at once. With a minimum of 0, flush() would not wait for them.
  const destination = pino.destination({ dest: 2, sync: false, minLength: 1, maxLength: MAX_WAITING_BYTES });
  const options = { level, base: null };
  const logger = process.stderr.isTTY
    ? pino(options, { write: (line: string) => void destination.write(prettyLine(line)) })
    : pino(options, destination);
  return {
    logger,
    flush: () =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, FLUSH_MS);
        // The callback gets an error if the reader has closed; it cannot be reported.
        destination.flush(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
    flushNow() {
      try {
        destination.flushSync();
      } catch {
        // The reader of standard error has closed or does not read; this cannot be reported.
      }
    },
  };
}

/** `12:34:56.789 INFO listening {"port":3000}`, an error with its stack below. */
export function prettyLine(line: string): string {
  const { level, time, msg = "", err, ...rest } = JSON.parse(line);
  const label = (pino.levels.labels[level] ?? String(level)).toUpperCase();
  const details = Object.keys(rest).length === 0 ? "" : ` ${JSON.stringify(rest)}`;
  const stack = err === undefined ? "" : `\n${err.stack ?? JSON.stringify(err)}`;
  const text = `${new Date(time).toISOString().slice(11, -1)} ${label} ${msg}${details}${stack}`;
  return `${text.split("\n").map(printable).join("\n")}\n`;
}
