import { checkOptions, checkValue, rules } from "@outrigger/core/stores";
import { type AnyServer, trackConnections } from "./connections.ts";

/** What a shutdown closes after the last reply: a service, or anything else with `close`. */
export interface Closable {
  close(options?: { timeoutMs?: number }): Promise<unknown>;
}

const RULES = {
  /**
   * Milliseconds for requests in progress, 0 to 600,000. Connections that are open then are cut. The default fits
   * into Docker's 10 s.
   * @default 8000
   */
  timeoutMs: rules.preset(8000, rules.time(0, 600_000)),
};

export interface ShutdownOptions extends rules.Options<typeof RULES> {}

const SERVER = rules.shape("a server, such as app.listen(port) returns", "on", "close");
const CLOSABLES = rules.value("a list of services, such as [images, lookup]", (given) => {
  return Array.isArray(given) && given.every((each) => typeof each?.close === "function");
});

/** Time for calls of a service that no request waits for. */
const MIN_CLOSE_MS = 1000;

/**
 * Prepares the shutdown of a server and of the services in it. Call it before the first connection, right after `listen`.
 *
 * @param closables Services and other parts, closed together after the last reply.
 * @returns A function that stops accepting connections and closes idle ones. Replies in progress, those of the host's own
 * routes included, end with `Connection: close`. Connections that are open after `timeoutMs` are cut, such as a stalled
 * upload. Then it closes `closables`. Each call returns the same promise.
 * @example
 * ```ts
 * const server = app.listen(3000);
 * process.once("SIGTERM", createShutdown(server, [images]));
 * ```
 */
export function createShutdown(
  server: AnyServer,
  closables: readonly Closable[],
  options: ShutdownOptions = {},
): () => Promise<void> {
  checkValue("createShutdown: server", server, SERVER);
  checkValue("createShutdown: closables", closables, CLOSABLES);
  const { timeoutMs } = checkOptions("createShutdown", options, RULES);
  const connections = trackConnections(server);

  async function shutDown(): Promise<void> {
    const endsAt = performance.now() + timeoutMs;
    await connections.drain(timeoutMs);
    const leftMs = Math.max(MIN_CLOSE_MS, endsAt - performance.now());
    await Promise.all(closables.map((each) => each.close({ timeoutMs: leftMs })));
  }

  let closing: Promise<void> | null = null;
  return () => {
    closing ??= shutDown();
    return closing;
  };
}
