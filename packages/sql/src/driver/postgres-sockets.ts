import { Socket } from "node:net";

/** The sockets of a pool: a server that hangs never answers a goodbye, and would keep the process from ending. */
export interface PostgresSockets {
  create(): Socket;
  destroyAll(): void;
}

export function createPostgresSockets(): PostgresSockets {
  const open = new Set<Socket>();
  return {
    create() {
      const socket = new Socket();
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      return socket;
    },
    destroyAll() {
      for (const socket of open) socket.destroy();
    },
  };
}
