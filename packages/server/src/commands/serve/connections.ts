import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /**
   * Closes connections without a request now, all others after the reply under way, which says so (`Connection: close`)
   * where its headers are not sent yet.
   */
  retire(): void;
  /** Cuts what is still open. @returns how many. */
  cut(): number;
}

interface ConnectionState {
  replies: Set<ServerResponse>;
  /** Bytes received when the last request was over; more of them now are the beginning of another. */
  readBytes: number;
}

/**
 * Keeps account of a server's connections. Node's own `closeIdleConnections` takes a connection for idle as soon as its
 * reply has been handed over, and cuts it while the reply is still on its way to a slow client.
 */
export function trackConnections(server: Server): Connections {
  const open = new Map<Socket, ConnectionState>();
  let isRetiring = false;

  server.on("connection", (socket: Socket) => {
    open.set(socket, { replies: new Set(), readBytes: 0 });
    socket.once("close", () => open.delete(socket));
  });
  // Before the app's own listener, so that no reply has begun.
  server.prependListener("request", (req, res) => {
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

  return {
    retire() {
      isRetiring = true;
      for (const [socket, { replies, readBytes }] of open) {
        for (const res of replies) if (!res.headersSent) res.setHeader("Connection", "close");
        if (replies.size === 0 && socket.bytesRead === readBytes) socket.destroySoon();
      }
    },
    cut() {
      const { size } = open;
      for (const socket of open.keys()) socket.destroy();
      return size;
    },
  };
}
