import { OutgoingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";

const waitersOf = new WeakMap<Socket, Set<() => void>>();

/** Whether the connection is closed, so that this reply cannot be sent. */
export function isConnectionLost(res: ServerResponse): boolean {
  // A reply queued behind a pipelined one does not see that its connection closed.
  return res.destroyed || res.req.socket.destroyed;
}

/** Whether the headers of this reply are sent, as Node knows it: `@fastify/express` redefines `res.headersSent`. */
export function areHeadersSent(res: ServerResponse): boolean {
  // A reply of HTTP/2 has the same member, but another class.
  return res instanceof OutgoingMessage
    ? Reflect.get(OutgoingMessage.prototype, "headersSent", res) === true
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
