import { createServer, type RequestListener, type Server } from "node:http";
import type { BlockList, Socket } from "node:net";
import { type DnsServer, startDnsServer } from "../../../test/support/dns-server.ts";
import { afterEachTest } from "../../../test/support/hooks.ts";
import { openRemote, type RemoteOptions } from "../src/http/remote/open-remote.ts";
import { checkRemoteUrl } from "../src/http/remote/remote-policy.ts";
import { specialAddresses } from "../src/http/remote/special-addresses.ts";

/** A server of files on this machine. */
export interface FileServer {
  port: number;
  /** Requests so far, as method and path. */
  requests: string[];
  connections(): number;
}

/** Other servers, a DNS of the test, and a client that may contact addresses of this machine. */
export interface RemoteSite {
  dns: DnsServer;
  /** Forbids what a test adds. Addresses of this machine are allowed. */
  forbidden: BlockList;
  serve(listener: RequestListener, host?: string): Promise<FileServer>;
  /** Takes over a server's listening and closing. */
  adopt(server: Server, host?: string): Promise<FileServer>;
  /** Fetches a URL completely. */
  fetch(
    url: string,
    options?: Partial<RemoteOptions> & { ports?: number[]; timeoutMs?: number },
  ): Promise<Buffer>;
}

const closing: (() => Promise<unknown>)[] = [];
afterEachTest(async () => {
  for (const close of closing.splice(0)) await close();
});

export async function createRemoteSite(): Promise<RemoteSite> {
  const dns = await startDnsServer();
  closing.push(() => dns.close());
  const forbidden = specialAddresses(["127.0.0.0/8"]);

  async function adopt(server: Server, host = "127.0.0.1"): Promise<FileServer> {
    const requests: string[] = [];
    const sockets = new Set<Socket>();
    let connections = 0;
    server.on("request", ({ method, url }) => requests.push(`${method} ${url}`));
    server.on("connection", (socket) => {
      connections++;
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    closing.push(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    const bound = server.address();
    const port = typeof bound === "object" && bound !== null ? bound.port : 0;
    return { port, requests, connections: () => connections };
  }

  return {
    ...{ dns, forbidden, adopt },
    serve: (listener, host) => adopt(createServer(listener), host),
    async fetch(text, { ports = [Number(new URL(text).port)], timeoutMs = 10_000, ...options } = {}) {
      const policy = { ports, internalHosts: [] };
      const address = checkRemoteUrl(text, policy);
      if (typeof address === "string") throw new Error(address);
      const signal = options.signal ?? AbortSignal.timeout(timeoutMs);
      const { body } = await openRemote(address, {
        ...{ policy, headers: { "User-Agent": "Test/1.0" }, idleMs: 5000 },
        ...{ forbidden, dnsServers: [dns.address] },
        ...options,
        signal,
      });
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(chunk);
      return Buffer.concat(chunks);
    },
  };
}
