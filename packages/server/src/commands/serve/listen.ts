import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import { type Connections, deferContinue, hasSeveralHosts, trackConnections } from "@outrigger/node/adapter";
import { StartError } from "../../config/config-error.ts";
import type { ServerSettings } from "../../config/settings.ts";
import { reply } from "./replies.ts";

export interface Listener extends Connections {
  /** `http://address:port`, without a trailing slash. */
  url: string;
}

export type ListenSettings = Pick<ServerSettings, "port" | "host" | "http">;

/** Interval of timeout checks; shorter if the timeouts are shorter. */
const CHECK_MS = 5000;

/**
 * Starts to listen.
 * @param onError Called with later errors when accepting connections.
 * @throws StartError
 */
export async function listen(
  handler: RequestListener,
  settings: ListenSettings,
  onError: (error: Error) => void,
): Promise<Listener> {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveMs, idleMs, maxConnections } = settings.http;
  const server = createServer({
    // The request timeout includes the headers.
    headersTimeout: Math.min(headersTimeoutMs, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, headersTimeoutMs),
  });
  server.timeout = idleMs;
  server.maxConnections = maxConnections;
  const connections = trackConnections(server);
  deferContinue(server);
  server.on("request", (req, res) =>
    hasSeveralHosts(req) ? refuseSeveralHosts(req, res) : handler(req, res),
  );
  await startListening(server, settings);
  server.on("error", onError);
  return {
    url: urlOf(server.address(), settings.host),
    drain: (timeoutMs) => connections.drain(timeoutMs),
  };
}

/** Every address refuses such a request (RFC 9112 §3.2), also one that does not depend on the host. */
function refuseSeveralHosts({ method = "" }: IncomingMessage, res: ServerResponse): void {
  const problem = {
    type: "about:blank",
    title: "Bad Request",
    status: 400,
    detail: "A request must have one Host header.",
  };
  const type = "application/problem+json; charset=utf-8";
  const { status, headers, body } = reply({ method }, 400, type, JSON.stringify(problem));
  res.writeHead(status, { ...headers, Connection: "close" }).end(body);
}

function startListening(server: Server, { port, host }: ListenSettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      server.close(() => {});
      reject(new StartError(whyNot(error, host, port), { cause: error }));
    });
    server.listen({ port, host }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function whyNot(error: NodeJS.ErrnoException, host: string, port: number): string {
  switch (error.code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is already in use. Set another port.`;
    case "EACCES":
      return `Port ${port} on ${host} may not be used by this user. Set a port above 1023.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `${host} is not an address of this machine. Set another host.`;
    default:
      return `Cannot listen on ${host}, port ${port}: ${error.message}`;
  }
}

function urlOf(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
