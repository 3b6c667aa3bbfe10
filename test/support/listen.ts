import { once } from "node:events";
import { createServer as createHttpServer, type Server as HttpServer, type RequestListener } from "node:http";
import { createServer, type Server } from "node:net";

/** A server of a test that listens. */
export interface Listening {
  port: number;
  /** `http://127.0.0.1:port`, also for a server that does not speak HTTP. */
  origin: string;
  /** Cuts the connections of an HTTP server and stops listening. Other servers wait for their connections to end. */
  close(): Promise<void>;
}

/** Lets a server listen on a free port of 127.0.0.1. */
export async function listen(server: Server): Promise<Listening> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    async close() {
      if ("closeAllConnections" in server && typeof server.closeAllConnections === "function") {
        server.closeAllConnections();
      }
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** An app in this process, with the service mounted at a path. */
export interface Host {
  /** `http://127.0.0.1:port` */
  origin: string;
  /** The mount point. */
  base: string;
  server: HttpServer;
  close(): Promise<void>;
}

/** Serves an app of a test on a free port. */
export async function serveHost(listener: RequestListener, mountPath = ""): Promise<Host> {
  const server = createHttpServer(listener);
  const { origin, close } = await listen(server);
  return { origin, base: origin + mountPath, server, close };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Different ports that were free a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => listen(createServer())));
  await Promise.all(servers.map((server) => server.close()));
  return servers.map(({ port }) => port);
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no TCP port");
  return address.port;
}
