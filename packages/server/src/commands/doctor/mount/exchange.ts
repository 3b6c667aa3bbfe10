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
import { sizeText } from "../../../cli/amounts.ts";
import type { Answer } from "./answer.ts";

/** Options of a request. */
export interface Ask {
  /** @default "GET" */
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** A buffer is sent at once, an iterable as its chunks arrive. */
  body?: Buffer | AsyncIterable<Buffer>;
  /** Agent that keeps connections. @default a new connection for this request only */
  agent?: HttpAgent | HttpsAgent;
  /**
   * Whether to send the complete request before an early reply is read. @default false, which closes the connection in the
   * middle of the request; some apps log an error for that
   */
  finishesFirst?: boolean;
  /** Longest time without data from the other side; milliseconds. @default 30000 */
  silenceMs?: number;
}

const SILENCE_MS = 30_000;
const MAX_REPLY_BYTES = 64 * 1024 * 1024;
const DAY_MS = 86_400_000;

/**
 * Sends one request and reads its complete reply. Adds no headers, follows no redirects, decodes no content. Rejects with
 * Node's error if there is no reply. Accepts a reply that arrives before the request is complete.
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
      // After a reply, a server may close a connection that is still sending.
      if (!isAnswered) reject(error);
    });
    outgoing.on("timeout", () => {
      const error = new Error(`no data arrived for ${Math.round(silenceMs / 1000)} s`);
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
    // The request itself emits the error.
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
    if (size > MAX_REPLY_BYTES) throw new Error(`the reply is longer than ${sizeText(MAX_REPLY_BYTES)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
