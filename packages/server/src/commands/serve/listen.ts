import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, isIPv6, Server as NetServer } from "node:net";
import { StartError } from "../../config/config-error.ts";
import type { ServerSettings } from "../../config/settings.ts";
import { trackConnections } from "./connections.ts";

export interface Listener {
  /** `http://address:port`, without a trailing slash. */
  url: string;
  /**
   * Accepts no more connections and waits until the last reply has been sent, at most so many milliseconds.
   * @returns how many connections had to be cut.
   */
  drain(timeoutMs: number): Promise<number>;
}

export type ListenSettings = Pick<ServerSettings, "port" | "host" | "http">;

/** Where port and host can be chosen, for messages. */
type ListenKeys = Record<"port" | "host", string>;

const FLAGS: ListenKeys = { port: "--port", host: "--host" };

/** Timeouts are looked at this often, or oftener where they are shorter. */
const CHECK_MS = 5000;

/**
 * Starts to listen.
 * @param onError Told of trouble with accepting connections later on.
 * @param keys Where another port and host can be chosen. @default the flags
 * @throws StartError
 */
export async function listen(
  handler: RequestListener,
  settings: ListenSettings,
  onError: (error: Error) => void,
  keys = FLAGS,
): Promise<Listener> {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveMs, idleMs, maxConnections } = settings.http;
  const server = createServer({
    // The time of the headers is part of the time of the request.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersTimeoutMs),
  });
  server.timeout = idleMs;
  server.maxConnections = maxConnections;
  const connections = trackConnections(server);
  server.on("request", handler);
  await startListening(server, settings, keys);
  server.on("error", onError);
  return {
    url: urlOf(server.address(), settings.host),
    async drain(timeoutMs) {
      let cut = 0;
      const deadline = setTimeout(() => {
        cut = connections.cut();
      }, timeoutMs);
      await new Promise((resolve) => {
        // Not that of http.Server: it cuts replies that are on their way (see trackConnections).
        NetServer.prototype.close.call(server, resolve);
        connections.retire();
      });
      clearTimeout(deadline);
      // Ends the timer that looks at the timeouts. That the server does not listen any more is no news.
      server.close(() => {});
      return cut;
    },
  };
}

function startListening(server: Server, { port, host }: ListenSettings, keys: ListenKeys): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      server.close(() => {});
      reject(new StartError(whyNot(error, host, port, keys), { cause: error }));
    });
    server.listen({ port, host }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number, keys: ListenKeys): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is already in use. Choose another by ${keys.port}.`;
    case "EACCES":
      return `Port ${port} on ${host} may not be used by this user. Choose one above 1023 by ${keys.port}.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is no address of this machine. Choose another by ${keys.host}.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${error.message}`;
  }
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
