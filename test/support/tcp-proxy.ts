import { connect, createServer, type Socket } from "node:net";
import { listen } from "./listen.ts";

/** Where the proxy cuts connections: after so many bytes in one direction, counted from the call of `cut`. */
export interface Cut {
  /** `up`: the bytes that the client sends. `down`: the bytes that the server sends. */
  direction: "up" | "down";
  afterBytes: number;
  /** How many connections. @default all */
  times?: number;
}

/** A TCP proxy to a server on this machine. Tests cut its connections. */
export interface TcpProxy {
  /** `http://127.0.0.1:port` */
  endpoint: string;
  port: number;
  /** Cuts connections from now on, until the next call; `null` lets everything pass. */
  cut(where: Cut | null): void;
  /** Leads new connections to another port, as a changed name does. Others stay. */
  leadTo(port: number): void;
  /** How many connections were cut so far. */
  cuts(): number;
  /** Bytes that the server was sent so far. */
  sentBytes(): number;
  close(): Promise<void>;
}

export async function startTcpProxy(firstPort: number): Promise<TcpProxy> {
  let target = firstPort;
  const sockets = new Set<Socket>();
  let where: (Cut & { left: number }) | null = null;
  let cuts = 0;
  let sentBytes = 0;

  function pass(from: Socket, to: Socket, direction: Cut["direction"]): void {
    let counted: Cut | null = null;
    let bytes = 0;
    from.on("data", function receive(chunk) {
      if (direction === "up") sentBytes += chunk.length;
      if (where === null || where.left === 0 || where.direction !== direction) {
        if (!to.write(chunk)) from.pause();
        return;
      }
      if (counted !== where) bytes = 0;
      counted = where;
      bytes += chunk.length;
      const excess = bytes - where.afterBytes;
      if (excess <= 0) {
        if (!to.write(chunk)) from.pause();
        return;
      }
      where.left--;
      cuts++;
      // What arrives until the last bytes are sent is lost.
      from.off("data", receive);
      to.write(chunk.subarray(0, chunk.length - excess), () => {
        to.destroy();
        from.destroy();
      });
    });
    to.on("drain", () => from.resume());
    from.on("end", () => to.end());
    from.on("error", () => to.destroy());
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  }

  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    for (const socket of [client, upstream]) sockets.add(socket);
    pass(client, upstream, "up");
    pass(upstream, client, "down");
  });
  const { port: ownPort, origin, close } = await listen(server);
  return {
    port: ownPort,
    endpoint: origin,
    cut(next) {
      where = next === null ? null : { ...next, left: next.times ?? Number.POSITIVE_INFINITY };
    },
    leadTo(next) {
      target = next;
    },
    cuts: () => cuts,
    sentBytes: () => sentBytes,
    async close() {
      for (const socket of sockets) socket.destroy();
      await close();
    },
  };
}
