import type { Server as HttpServer, IncomingMessage } from "node:http";
import { ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server, ServerHttp2Session } from "node:http2";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { Server as NetServer } from "node:net";
import { TLSSocket, Server as TlsServer } from "node:tls";

/** Any server that a service can be mounted in. */
export type AnyServer = HttpServer | HttpsServer | Http2Server | Http2SecureServer;

/** The connections of a server. */
export interface Connections {
  /**
   * Stops accepting connections, closes idle ones now and others after their reply, and waits until all are closed, at most
   * `timeoutMs` milliseconds. Adds `Connection: close` to replies of HTTP/1 whose headers are not sent yet.
   * @returns The number of connections cut at the timeout.
   */
  drain(timeoutMs: number): Promise<number>;
}

interface ConnectionState {
  replies: Set<ServerResponse>;
  /** Bytes received at the end of the last request; a higher count means that another has begun. */
  readBytes: number;
}

/**
 * Tracks the connections of a server from now on. `server.close()` of Node treats a connection as idle once its reply is
 * buffered, and so cuts replies that a slow client is still receiving.
 */
export function trackConnections(server: AnyServer): Connections {
  /** Connections as the system has them, also during a TLS handshake. */
  const accepted = new Set<Socket>();
  /** Connections that speak HTTP/1, by the socket of their requests. */
  const open = new Map<Socket, ConnectionState>();
  const sessions = new Set<ServerHttp2Session>();
  let isRetiring = false;

  // The overloads of each class differ only in events that are not used here.
  const events: NetServer = server;
  events.on("connection", (socket) => {
    accepted.add(socket);
    socket.once("close", () => accepted.delete(socket));
  });
  events.on(server instanceof TlsServer ? "secureConnection" : "connection", (socket: Socket) => {
    if (socket instanceof TLSSocket && socket.alpnProtocol === "h2") return;
    open.set(socket, { replies: new Set(), readBytes: 0 });
    socket.once("close", () => open.delete(socket));
  });
  events.on("session", (session: ServerHttp2Session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    if (isRetiring) session.close();
  });
  // Before the app's own listener, so that no reply has begun.
  events.prependListener("request", (req: IncomingMessage, res: ServerResponse) => {
    if (req.httpVersionMajor >= 2) return;
    const { socket } = req;
    const state = open.get(socket);
    if (state === undefined) return;
    state.replies.add(res);
    if (isRetiring) res.setHeader("Connection", "close");
    res.once("close", () => {
      state.replies.delete(res);
      state.readBytes = socket.bytesRead;
      if (isRetiring && state.replies.size === 0) socket.destroySoon();
    });
  });

  function retire(): void {
    isRetiring = true;
    for (const session of sessions) session.close();
    // Without TLS, a connection of HTTP/2 looks like an idle one of HTTP/1.
    if (sessions.size > 0 && !(server instanceof TlsServer)) return;
    for (const [socket, { replies, readBytes }] of open) {
      for (const res of replies) if (!areHeadersSent(res)) res.setHeader("Connection", "close");
      if (replies.size === 0 && socket.bytesRead === readBytes) socket.destroySoon();
    }
  }

  return {
    async drain(timeoutMs) {
      let cut = 0;
      const deadline = setTimeout(() => {
        cut = accepted.size;
        for (const socket of accepted) socket.destroy();
      }, timeoutMs);
      await new Promise((resolve) => {
        // Not close() of Node's HTTP server, which cuts replies in progress. Bun's is no server of node:net, and waits for them.
        const { close } = server instanceof NetServer ? NetServer.prototype : server;
        close.call(server, resolve);
        retire();
      });
      clearTimeout(deadline);
      // Stops the timer of the timeouts. The error that the server no longer listens is ignored.
      server.close(() => {});
      return cut;
    },
  };
}

const waitersOf = new WeakMap<Socket, Set<() => void>>();

/** Whether the connection is closed, so that this reply cannot be sent. */
export function isConnectionLost(res: ServerResponse): boolean {
  // A reply queued behind a pipelined one does not see that its connection closed.
  return res.destroyed || res.req.socket.destroyed;
}

/** Whether the headers of this reply are sent, as Node knows it: `@fastify/express` redefines `res.headersSent`. */
export function areHeadersSent(res: ServerResponse): boolean {
  // A reply of HTTP/2 has the same member, but another class.
  return res instanceof ServerResponse
    ? Reflect.get(ServerResponse.prototype, "headersSent", res) === true
    : (res as ServerResponse).headersSent;
}

/**
 * Calls `listener` when the connection of `res` closes, even if `res` emits no `close` event: of pipelined requests
 * (RFC 9112 §9.3.2), Node notifies only the first one's reply. If the connection has closed already, it calls
 * `listener` in a microtask.
 *
 * @param listener May be called more than once, and also after a complete reply.
 * @returns A function that removes the listener.
 */
export function onConnectionClose(res: ServerResponse, listener: () => void): () => void {
  if (isConnectionLost(res)) queueMicrotask(listener);
  res.once("close", listener);
  const waiters = res.socket === null ? waitFor(res.req.socket) : undefined;
  waiters?.add(listener);
  return () => {
    res.off("close", listener);
    waiters?.delete(listener);
  };
}

/** One listener per connection for all waiting replies: Node warns about more than ten. */
function waitFor(socket: Socket): Set<() => void> {
  const known = waitersOf.get(socket);
  if (known) return known;
  const waiters = new Set<() => void>();
  waitersOf.set(socket, waiters);
  socket.once("close", () => {
    for (const listener of waiters) listener();
  });
  return waiters;
}

/** The reason with which `call.signal` aborts. */
export class ClientLeftError extends Error {
  readonly code = "CLIENT_LEFT";

  constructor(options?: ErrorOptions) {
    super("The client closed the connection before there was a reply", options);
    this.name = "AbortError";
  }
}
