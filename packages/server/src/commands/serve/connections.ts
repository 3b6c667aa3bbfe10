import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface Connections {
  /**
   * Closes idle connections now, and others after their reply. Adds `Connection: close` to replies whose headers are not
   * sent yet.
   */
  retire(): void;
  /** Cuts all open connections. @returns Their number. */
  cut(): number;
}

interface ConnectionState {
  replies: Set<ServerResponse>;
  /** Bytes received at the end of the last request; a higher count means that another has begun. */
  readBytes: number;
}

/**
 * Tracks the connections of a server. `closeIdleConnections` of Node treats a connection as idle once its reply is
 * buffered, and so cuts replies that a slow client is still receiving.
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
