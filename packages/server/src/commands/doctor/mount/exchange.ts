import {
  type ClientRequest,
  type Agent as HttpAgent,
  type IncomingMessage,
  request as requestHttp,
} from "node:http";
import { type Agent as HttpsAgent, request as requestHttps } from "node:https";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { TLSSocket } from "node:tls";
import type { Answer } from "./answer.ts";

/** A request. */
export interface Ask {
  /** @default "GET" */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** What is sent as fast as it goes, or as it comes. */
  body?: Buffer | AsyncIterable<Buffer>;
  /** Keeps connections. @default a new connection for this request alone */
  agent?: HttpAgent | HttpsAgent;
  /**
   * Reads a reply that comes early when the request has been sent to its end. @default at once, which closes the connection
   * with half a request on it: of that some apps complain in their logs.
   */
  finishesFirst?: boolean;
  /** Milliseconds without anything from the other side. @default 30000 */
  silenceMs?: number;
}

const SILENCE_MS = 30_000;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

/**
 * One request and its whole reply, with nothing added, followed or decoded. Rejects with Node's error where there is none;
 * a reply that comes before the request has been sent counts, whatever becomes of the rest.
 */
export function exchange(url: URL, ask: Ask): Promise<Answer> {
  const {
    method = "GET",
    headers = {},
    body,
    agent = false,
    finishesFirst = false,
    silenceMs = SILENCE_MS,
  } = ask;
  const request = url.protocol === "https:" ? requestHttps : requestHttp;
  const sentMs = Date.now();
  const outgoing = request(url, { method, headers, agent, timeout: silenceMs });
  return new Promise<Answer>((resolve, reject) => {
    let isAnswered = false;
    outgoing.on("error", (error) => {
      // After an answer, a server may cut a connection that still sends.
      if (!isAnswered) reject(error);
    });
    outgoing.on("timeout", () => {
      const error = new Error(`nothing came for ${Math.round(silenceMs / 1000)} s`);
      outgoing.destroy(Object.assign(error, { code: "ETIMEDOUT" }));
    });
    outgoing.on("response", (incoming) => {
      isAnswered = true;
      const facts = factsOf(outgoing.socket);
      const isReused = outgoing.reusedSocket;
      const arrivedMs = Date.now();
      const ready = finishesFirst ? untilSent(outgoing) : Promise.resolve();
      ready
        .then(() => readWhole(incoming))
        .then((bytes) => {
          resolve({
            ...{ status: incoming.statusCode ?? 0, headers: incoming.headers, body: bytes },
            ...{ sentMs, arrivedMs, isReused, ...facts },
          });
        }, reject);
    });
    if (body === undefined || Buffer.isBuffer(body)) outgoing.end(body);
    // The request emits its own error.
    else
      Readable.from(body, { objectMode: false })
        .on("error", () => undefined)
        .pipe(outgoing);
  });
}

function untilSent(outgoing: ClientRequest): Promise<void> {
  if (outgoing.writableFinished || outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    outgoing.once("finish", resolve).once("close", resolve);
  });
}

function factsOf(socket: Socket | null): Pick<Answer, "isLoopback" | "certificateDays" | "tlsVersion"> {
  const isLoopback = /^(?:::1$|(?:::ffff:)?127\.)/.test(socket?.remoteAddress ?? "");
  if (!(socket instanceof TLSSocket)) return { isLoopback, certificateDays: null, tlsVersion: null };
  const endMs = Date.parse(socket.getPeerCertificate().valid_to);
  const certificateDays = Number.isNaN(endMs) ? null : Math.floor((endMs - Date.now()) / DAY_MS);
  return { isLoopback, certificateDays, tlsVersion: socket.getProtocol() };
}

async function readWhole(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming) {
    size += chunk.length;
    if (size > MAX_REPLY_BYTES) throw new Error(`the reply is longer than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
