import assert from "node:assert/strict";
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";

/** Longer than any step takes on a busy machine, so that a hang fails the test. */
const PATIENCE_MS = 60_000;

export interface ClientReply {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

export interface ClientRequest {
  method?: string;
  headers?: Record<string, string>;
  /** A list is sent in chunks, without a Content-Length. */
  body?: string | Buffer | Buffer[];
  agent?: Agent;
}

/** Rejects if `promise` does not settle in time; the message names what was awaited. */
export async function within<T>(promise: Promise<T>, what: string, ms = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Still waiting after ${ms} ms: ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Resolves when `condition` holds; fails with `what` if it does not in time. */
export async function until(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < end, `Not in time: ${what}`);
    await pause(5);
  }
}

/** Lets other work run. */
export function pause(ms = 0): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Sends one request on its own connection, and returns the whole reply. */
export function fetchReply(url: string, options: ClientRequest = {}): Promise<ClientReply> {
  const exchange = new Promise<ClientReply>((resolve, reject) => {
    openReply(url, options)
      .then(async (res) => {
        const chunks: Buffer[] = [];
        for await (const chunk of res) chunks.push(chunk);
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers,
          rawHeaders: res.rawHeaders,
          body: Buffer.concat(chunks),
        });
      })
      .catch(reject);
  });
  return within(exchange, `${options.method ?? "GET"} ${url}`);
}

/** Sends a body to the root of a service. */
export function post(
  base: string,
  headers: Record<string, string>,
  body: ClientRequest["body"] = "",
): Promise<ClientReply> {
  return fetchReply(`${base}/`, { method: "POST", headers, body });
}

/** The JSON body of a reply. */
export function jsonBody<T = Record<string, unknown>>(reply: ClientReply): T {
  return JSON.parse(reply.body.toString());
}

export function assertRefusal(reply: ClientReply, status: number, code: string, of = ""): void {
  assert.deepEqual([reply.status, jsonBody(reply).code], [status, code], `${of}: ${reply.body}`);
}

/** Sends one request; resolves when the headers of the reply have arrived. */
export function openReply(url: string, options: ClientRequest = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { body } = options;
    const headers = { ...options.headers };
    if (typeof body === "string" || Buffer.isBuffer(body))
      headers["content-length"] ??= String(Buffer.byteLength(body));
    // `agent: false` would stop the caller from reusing connections.
    const agent = options.agent ?? new Agent({ keepAlive: false });
    const req = httpRequest(url, { method: options.method ?? "GET", headers, agent });
    let hasReply = false;
    req.once("response", (res) => {
      hasReply = true;
      resolve(res);
    });
    // After the reply, an error only means that the server stopped reading.
    req.on("error", (error) => {
      if (!hasReply) reject(error);
    });
    if (Array.isArray(body)) {
      for (const chunk of body) req.write(chunk);
      req.end();
    } else {
      req.end(body);
    }
  });
}

export function connectTo(origin: string): Promise<Socket> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      // A later connection error shows in the data read from it.
      socket.on("error", () => {});
      resolve(socket);
    });
  });
}

/** Sends bytes unchanged and returns everything received until the server closes the connection. */
export function sendRaw(origin: string, ...bytes: (string | Buffer)[]): Promise<string> {
  return exchange(origin, bytes, "the reply to a raw request", undefined, readToClose);
}

/** Sends bytes unchanged and returns one reply, without closing the connection before. */
export async function exchange(
  origin: string,
  bytes: readonly (string | Buffer)[],
  what: string,
  ms?: number,
  read: (socket: Socket) => Promise<string> = readReply,
): Promise<string> {
  const socket = await connectTo(origin);
  const reply = read(socket);
  for (const piece of bytes) socket.write(piece);
  return await within(reply, what, ms).finally(() => socket.destroy());
}

export function readToClose(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.once("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
  });
}

/** Reads one reply, up to its Content-Length or until the connection closes. */
export function readReply(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const isWhole = () => {
      const end = text.indexOf("\r\n\r\n");
      const length = /\r\ncontent-length: (\d+)/i.exec(text)?.[1];
      return end !== -1 && length !== undefined && text.length >= end + 4 + Number(length);
    };
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
      if (isWhole()) resolve(text);
    });
    socket.once("close", () => resolve(text));
  });
}

export function statusOf(rawReply: string): number {
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(rawReply)?.[1] ?? 0);
}

/** The JSON body of a raw reply, chunked or not. */
export function jsonOf(rawReply: string): unknown {
  const body = rawReply.slice(rawReply.indexOf("\r\n\r\n") + 4);
  return JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1));
}
