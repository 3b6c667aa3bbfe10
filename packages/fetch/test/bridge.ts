import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { serve } from "./serve.ts";

/** What the tests' bridge passes to its handler beside the request. */
export interface BridgeEnv {
  incoming: IncomingMessage;
}

export type BridgedHandler = (request: Request, env: BridgeEnv) => Promise<Response>;

/** A host of web requests: a server of node:http that changes and adds nothing. */
export async function serveRequests(handler: BridgedHandler, onError: (error: unknown) => void) {
  const server = createServer((incoming, outgoing) => {
    answer(handler, incoming, outgoing).catch((error: unknown) => {
      onError(error);
      // A reply that has begun must not look complete.
      if (outgoing.headersSent) outgoing.destroy();
      else outgoing.writeHead(500).end();
    });
  });
  server.keepAliveTimeout = 1000;
  return await serve(server);
}

async function answer(handler: BridgedHandler, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { method = "GET", headers, url = "/" } = incoming;
  const abort = new AbortController();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) abort.abort();
  });
  const target = url.startsWith("/") ? `http://${headers.host}${url}` : url;
  const isBodyless = method === "GET" || method === "HEAD";
  const request = new Request(target, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    body: isBodyless ? null : (Readable.toWeb(incoming) as ReadableStream<Uint8Array>),
    duplex: "half",
    signal: abort.signal,
  } as RequestInit);
  const response = await handler(request, { incoming });
  if (outgoing.destroyed) return void response.body?.cancel();
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  const reader = response.body?.getReader();
  outgoing.once("close", () => void reader?.cancel().catch(() => {}));
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    // A client that disconnects meanwhile cancels the reader.
    if (!outgoing.write(next.value)) await once(outgoing, "drain", { signal: abort.signal }).catch(() => {});
  }
  outgoing.end();
}
