import { once } from "node:events";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { pipeline } from "node:stream";
import { buffer } from "node:stream/consumers";
import { listen } from "./listen.ts";

/** A reply of the app, whole. */
export interface PassedReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What a proxy does to what passes through it. */
export interface Spoiling {
  /** @returns Whether it has answered itself, so that the app does not get the request. */
  answer?(incoming: IncomingMessage, outgoing: ServerResponse): boolean;
  /** The headers that the app gets instead. */
  requestHeaders?(headers: IncomingHttpHeaders): IncomingHttpHeaders;
  /** Passes a request on when it has come to its end. @default as it comes */
  buffersRequests?: boolean;
  /** Cuts a request that takes longer. Milliseconds. */
  requestMs?: number;
  /** The reply that the client gets instead. */
  reply?(incoming: IncomingMessage, passed: PassedReply): PassedReply;
  /** PEM. @default no TLS */
  tls?: { cert: Buffer; key: Buffer };
}

/** A proxy in front of an app. */
export interface SpoilingProxy {
  /** `http://127.0.0.1:port`, or `https:`. */
  origin: string;
  close(): Promise<void>;
}

/** @param target Where the app is for each request, as `http://127.0.0.1:port`. */
export async function startSpoilingProxy(
  target: () => string,
  spoiling: Spoiling = {},
): Promise<SpoilingProxy> {
  const listener: RequestListener = (incoming, outgoing) => {
    if (spoiling.answer?.(incoming, outgoing) === true) {
      incoming.resume();
      return;
    }
    if (spoiling.requestMs !== undefined) cutLater(incoming, spoiling.requestMs);
    pass(target(), spoiling, incoming, outgoing).catch((error) => outgoing.destroy(error));
  };
  const { tls } = spoiling;
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  const { port, close } = await listen(server);
  return { origin: `${tls === undefined ? "http" : "https"}://127.0.0.1:${port}`, close };
}

function cutLater(incoming: IncomingMessage, ms: number): void {
  const timer = setTimeout(() => incoming.socket.destroy(), ms);
  incoming.once("end", () => clearTimeout(timer));
  incoming.once("close", () => clearTimeout(timer));
}

async function pass(
  target: string,
  { requestHeaders = (headers) => headers, buffersRequests = false, reply }: Spoiling,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const body = buffersRequests ? await buffer(incoming) : null;
  const { method } = incoming;
  const upstream = request(new URL(incoming.url ?? "/", target), {
    method,
    headers: requestHeaders({ ...incoming.headers }),
  });
  if (body === null) pipeline(incoming, upstream, () => undefined);
  else upstream.end(body);
  const [answer] = (await once(upstream, "response")) as [IncomingMessage]; // As Node documents the event.
  const passed = { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
  const sent = reply?.(incoming, passed) ?? passed;
  outgoing.writeHead(sent.status, sent.headers);
  outgoing.end(sent.body);
}
