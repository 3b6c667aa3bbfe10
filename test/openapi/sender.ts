import { Agent, type IncomingHttpHeaders, request } from "node:http";

/** A request as written to the socket. */
export interface Sent {
  method: string;
  /** Path and query below the mount point. */
  target: string;
  headers: Readonly<Record<string, string>>;
  body?: Buffer | string;
  /** Whether the body stalls before its end. */
  stalls?: boolean;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Sender {
  send(sent: Sent): Promise<Answer>;
  close(): void;
}

/**
 * Sends requests that other clients refuse to send: no default `User-Agent`, bodies with GET. Connections are kept
 * open.
 */
export function createSender(base: string): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    send: ({ method, target, headers, body, stalls = false }) =>
      new Promise((resolve, reject) => {
        const length =
          body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body) + (stalls ? 1 : 0)) };
        const outgoing = request(`${base}${target}`, { method, agent, headers: { ...length, ...headers } });
        outgoing.on("error", reject);
        outgoing.on("response", (incoming) => {
          const chunks: Buffer[] = [];
          incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
          incoming.on("error", reject);
          incoming.on("end", () => {
            resolve({
              status: incoming.statusCode ?? 0,
              headers: incoming.headers,
              body: Buffer.concat(chunks),
            });
            if (stalls) outgoing.destroy();
          });
        });
        if (stalls) outgoing.write(body ?? "");
        else outgoing.end(body);
      }),
    close: () => agent.destroy(),
  };
}
