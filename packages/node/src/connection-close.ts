import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

const waitersOf = new WeakMap<Socket, Set<() => void>>();

/** Whether nobody can be sent this reply any more. */
export function isConnectionLost(res: ServerResponse): boolean {
  // A reply that waits for its turn does not know what became of its connection.
  return res.destroyed || res.req.socket.destroyed;
}

/**
 * Calls `listener` when the connection of `res` closes, as its `close` event does, and also where that event never comes: of
 * requests that a client sent ahead (RFC 9112 §9.3.2), Node tells only the first one's reply. Soon, when it has closed already.
 *
 * @param listener May be called again, and after a whole reply too.
 * @returns Takes the listener away.
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

/** One listener a connection, however many replies wait: Node warns of more than ten. */
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

  constructor() {
    super("The client closed the connection before there was a reply");
    this.name = "AbortError";
  }
}
