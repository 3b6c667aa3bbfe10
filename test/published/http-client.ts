import { once } from "node:events";
import { Agent as HttpAgent, type IncomingHttpHeaders, request as requestHttp } from "node:http";
import { connect } from "node:http2";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";

export interface Sent {
  /** @default GET */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
  /** Sends the body without `Content-Length`. */
  isChunked?: boolean;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Speaks HTTP/1.1, or HTTP/2 over TLS. Trusts every certificate, follows no redirect, and adds no header but `Host` and a length. */
export interface HttpClient {
  /** Resolves with a reply that arrives while the body is still being sent. */
  send(url: string, sent?: Sent): Promise<Reply>;
  close(): void;
}

/** @param keepAlive Whether requests share a connection. */
export function http1Client({ keepAlive }: { keepAlive: boolean }): HttpClient {
  const http = new HttpAgent({ keepAlive });
  const https = new HttpsAgent({ keepAlive, rejectUnauthorized: false });
  return {
    send: (url, sent = {}) =>
      new Promise((resolve, reject) => {
        const { method = "GET", body } = sent;
        const options = { method, headers: headersOf(sent) };
        const req = url.startsWith("https:")
          ? requestHttps(url, { ...options, agent: https })
          : requestHttp(url, { ...options, agent: http });
        req.on("response", (res) => {
          readAll(res).then((bytes) => {
            resolve({ status: res.statusCode ?? 0, headers: res.headers, body: bytes });
          }, reject);
        });
        // After a reply, an error of sending the rest changes nothing: the promise is settled then.
        req.on("error", reject);
        req.end(body);
      }),
    close() {
      http.destroy();
      https.destroy();
    },
  };
}

export function http2Client(origin: string): HttpClient {
  // In MB. What waits to be sent counts: with the default of 10, a reply to a longer body would be rejected.
  const session = connect(origin, { rejectUnauthorized: false, maxSessionMemory: 100 });
  // Each request reports its own failure.
  session.on("error", () => {});
  return {
    async send(url, sent = {}) {
      const { pathname, search } = new URL(url);
      const { method = "GET", body } = sent;
      const stream = session.request({ ":method": method, ":path": pathname + search, ...headersOf(sent) });
      // Reported by the reading of the response, or by its absence.
      stream.on("error", () => {});
      stream.end(body);
      const [received] = await once(stream, "response");
      const { ":status": status, ...rest } = received;
      return { status, headers: rest, body: await readAll(stream) };
    },
    close: () => session.destroy(),
  };
}

function headersOf({ headers = {}, body, isChunked = false }: Sent): Record<string, string> {
  if (body === undefined || isChunked) return headers;
  return { "Content-Length": String(Buffer.byteLength(body)), ...headers };
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
