import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** The side of a server in one connection. */
export interface Peer {
  socket: Socket;
  /** Sends text as it is: lines need their ends. */
  send(text: string | Uint8Array): void;
  /** The next line of the client, without its end; `null` when it has hung up. */
  line(): Promise<string | null>;
}

/** A server on the loopback that says whatever a script says. */
export interface HostileMailServer {
  host: string;
  port: number;
  /** Lines that were received, up to a handshake of TLS. */
  lines: string[];
  /** Connections so far. */
  connections(): number;
  /** How many the client has not ended. */
  openConnections(): number;
  close(): Promise<void>;
}

export interface HostileMailServerOptions {
  /** An address of the loopback. @default "127.0.0.1" */
  host?: string;
  /** @default a free one */
  port?: number;
}

const TLS_HANDSHAKE = 0x16;

/** @param script runs for each connection, which is closed only by it or by the client. */
export async function startHostileMailServer(
  script: (peer: Peer, connection: number) => void | Promise<void>,
  { host = "127.0.0.1", port = 0 }: HostileMailServerOptions = {},
): Promise<HostileMailServer> {
  const lines: string[] = [];
  const sockets = new Set<Socket>();
  /** Those whose client has not hung up. */
  const open = new Set<Socket>();
  let connections = 0;

  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    open.add(socket);
    connections++;
    const ready: string[] = [];
    let rest = "";
    let hasEnded = false;
    let isEncrypted = false;
    let wake = () => {};
    socket.on("close", () => {
      sockets.delete(socket);
      open.delete(socket);
      hasEnded = true;
      wake();
    });
    socket.on("end", () => {
      open.delete(socket);
      hasEnded = true;
      wake();
    });
    // The client hangs up on most of what is said here.
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => {
      // What begins a handshake is no line.
      isEncrypted ||= rest === "" && chunk[0] === TLS_HANDSHAKE;
      if (isEncrypted) return;
      const parts = (rest + chunk.toString("latin1")).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const line = part.replace(/\r$/, "");
        lines.push(line);
        ready.push(line);
      }
      wake();
    });
    void script(
      {
        socket,
        send(text) {
          if (!socket.destroyed) socket.write(text);
        },
        async line() {
          while (ready.length === 0 && !hasEnded) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          return ready.shift() ?? null;
        },
      },
      connections,
    );
  }).listen(port, host);
  await once(server, "listening");
  const bound = server.address();
  return {
    host,
    port: typeof bound === "object" && bound !== null ? bound.port : 0,
    lines,
    connections: () => connections,
    openConnections: () => open.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Answers as a mail server does, with the replies that `replies` has for a verb instead of its own. `null` hangs up. */
export async function serveMail(
  peer: Peer,
  replies: Partial<Record<string, string | null>> = {},
): Promise<void> {
  const answer = (verb: string, usual: string) => {
    const reply = replies[verb] === undefined ? usual : replies[verb];
    if (reply === null) peer.socket.destroy();
    else if (reply !== "") peer.send(`${reply}\r\n`);
  };
  answer("GREETING", "220 mx.test ESMTP");
  for (let line = await peer.line(); line !== null; line = await peer.line()) {
    const verb = (line.split(" ")[0] ?? "").toUpperCase();
    answer(verb, verb === "QUIT" ? "221 Bye" : "250 OK");
    if (verb === "QUIT") peer.socket.end();
  }
  peer.socket.end();
}
