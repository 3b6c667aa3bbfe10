import type { IncomingMessage, ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import { TLSSocket } from "node:tls";
import type { Reply } from "@outrigger/core";
import { isConnectionLost, onConnectionClose } from "./connections.ts";
import type { Incoming } from "./incoming.ts";
import { hasBody } from "./incoming.ts";
import { sendDirectly } from "./send-directly.ts";

const CHECK_MS = 5000;
/** A client that reads nothing for this long is disconnected. */
const IDLE_MS = 30_000;
/** A slow client is disconnected after this plus the time that the reply takes at {@link MIN_BYTES_PER_MS}. */
const GRACE_MS = 60_000;
const MIN_BYTES_PER_MS = (8 * 1024) / 1000;

const DONE = Promise.resolve();

/**
 * Sends a reply through `res`. A streamed body is always read to its end or destroyed. A client that does not read
 * the reply is disconnected.
 *
 * @returns Resolves when the reply has been passed to Node; with a stream, when it has been sent. Also
 * resolves if the client
 *   disconnects meanwhile. Rejects with the source's error if a stream failed; the connection is closed by
 * then, so that the
 *   client does not take the truncated reply for a complete one.
 */
export function sendReply(res: ServerResponse, reply: Reply): Promise<void> {
  if (isConnectionLost(res)) {
    destroyBody(reply);
    return DONE;
  }
  const { status, headers, body } = finishRequestBody(res.req, reply);
  try {
    res.statusCode = status;
    for (const name in headers) {
      const value = headers[name];
      if (value !== undefined) res.setHeader(name, value);
    }
  } catch (error) {
    destroyBody(reply);
    return Promise.reject(error);
  }
  dropCookies(res);
  if (Object.hasOwn(res, "writeHead")) dropLateCookies(res);
  if (body === undefined) {
    res.end();
    return DONE;
  }
  if (!isBodyAllowed(res.req.method, status)) {
    destroyBody(reply);
    res.end();
    return DONE;
  }
  if (!(body instanceof Readable)) {
    res.end(body);
    watchSending(res);
    return DONE;
  }
  return sendStream(res, body);
}

/** Whether a reply of this status to this method may have a body (RFC 9110 §6.4.1). */
export function isBodyAllowed(method: string | undefined, status: number): boolean {
  return method !== "HEAD" && status !== 204 && status !== 304;
}

function destroyBody(reply: Reply): void {
  if (reply.body instanceof Readable) reply.body.destroy();
}

function sendStream(res: ServerResponse, body: Readable): Promise<void> {
  return new Promise((resolve, reject) => {
    // A failure of one side closes the other too, and versions of Node report them in different orders.
    let first: "client" | "source" | undefined;
    const stopListening = onConnectionClose(res, () => {
      first ??= "client";
      body.destroy();
    });
    const onSourceTrouble = () => {
      if (!body.readableEnded) first ??= "source";
    };
    body.once("error", onSourceTrouble).once("close", onSourceTrouble);
    sendDirectly(res, body);
    pipeline(body, res, (error) => {
      stopListening();
      // If the connection closed before the source failed, the client disconnected
      // (ERR_STREAM_PREMATURE_CLOSE).
      if (error && first === "source") reject(error);
      else resolve();
    });
    watchSending(res);
  });
}

/**
 * Disconnects a client that reads its reply too slowly or not at all. Node has no time-out for that, and such a
 * client would hold a connection, the buffered reply, and the file or store behind it.
 *
 * Call it when sending starts; it costs nothing if the kernel has accepted the whole reply. Only the time in which
 * the server waits for the client counts, not that in which a source is slow. The socket's own time-out belongs to
 * the host and is not changed.
 * @param size Bytes of the body. @default the header `Content-Length`, if set before `writeHead`
 */
export function watchSending(res: ServerResponse, size = sizeOf(res)): void {
  if (res.writableFinished || res.destroyed || isAccepted(res)) return;
  const { socket } = res.req;
  const writtenBefore = socket.bytesWritten;
  let drains = 0;
  let lastProgress: string | undefined;
  let idleMs = 0;
  let waitedMs = 0;

  const onDrain = () => {
    drains++;
  };
  const stop = () => {
    clearInterval(timer);
    res.off("drain", onDrain).off("finish", stop);
  };
  /** A value that changes whenever the client reads; `undefined` if progress cannot be observed. */
  const progress = () => {
    const queued = queuedBytes(res);
    return queued === undefined && res.writableEnded ? undefined : `${drains} ${queued}`;
  };
  const longestMs = () => {
    const bytes = size ?? socket.bytesWritten - writtenBefore;
    return GRACE_MS + bytes / MIN_BYTES_PER_MS;
  };
  const check = () => {
    // Polled instead of a `close` listener: together with those of `pipeline`, Node would warn about a leak.
    if (res.destroyed || socket.destroyed) return stop();
    const isAwaited = res.socket !== null && res.writableLength > 0;
    const seen = isAwaited ? progress() : undefined;
    idleMs = seen !== undefined && seen === lastProgress ? idleMs + CHECK_MS : 0;
    lastProgress = seen;
    if (isAwaited) waitedMs += CHECK_MS;
    if (idleMs >= IDLE_MS || waitedMs > longestMs()) {
      stop();
      res.destroy();
    }
  };
  const timer = setInterval(check, CHECK_MS).unref();
  res.on("drain", onDrain).on("finish", stop);
}

function sizeOf(res: ServerResponse): number | undefined {
  const length = res.getHeader("Content-Length");
  return length === undefined ? undefined : Number(length);
}

/** Whether the kernel has accepted the whole reply. Unknown in HTTP/2, whose socket is shared. */
function isAccepted({ req, socket, writableEnded }: ServerResponse): boolean {
  return writableEnded && req.httpVersionMajor < 2 && socket?.writableLength === 0;
}

/**
 * Written bytes that the kernel has not accepted yet. Node does not document this number, but its own time-outs use
 * it, and nothing else changes while one long Buffer is sent. `undefined` in HTTP/2, where it covers several
 * replies, and over TLS, where it does not change until the whole Buffer is sent.
 */
function queuedBytes({ req, socket }: ServerResponse): number | undefined {
  if (req.httpVersionMajor > 1 || socket === null || socket instanceof TLSSocket) return undefined;
  const size: unknown = Reflect.get(Object(Reflect.get(socket, "_handle")), "writeQueueSize");
  return typeof size === "number" ? size : undefined;
}

/**
 * Removes `Set-Cookie` from a reply that shared caches may store, whose other headers are set. `Set-Cookie` does not stop such a
 * cache (RFC 9111 §7.3): it would send the cookie of one client to others. A reply that is `private` or `no-store` keeps it.
 */
export function dropCookies(res: ServerResponse): void {
  if (!res.hasHeader("Set-Cookie")) return;
  const caching = res.getHeader("Cache-Control");
  if (caching !== undefined && !/\b(?:private|no-store)\b/i.test(String(caching)))
    res.removeHeader("Set-Cookie");
}

/**
 * Like {@link dropCookies}, once the head is written, for middleware that sets a cookie only then: sessions do so in a `writeHead`
 * of their own, or in Koa after this adapter has returned.
 */
export function dropLateCookies(res: ServerResponse): void {
  // Both run after every such `writeHead`, which is on the way to them.
  const [writer, name] =
    res.req.httpVersionMajor < 2 ? [res, "_storeHeader"] : [Object(Reflect.get(res, "stream")), "respond"];
  const write: unknown = Reflect.get(writer, name);
  if (typeof write !== "function") return;
  Reflect.set(writer, name, (...given: unknown[]): unknown => {
    dropCookies(res);
    return Reflect.apply(write, writer, given);
  });
}

/** A client on a busy machine may take seconds to read a reply while it still sends. */
const LINGER_MS = 3000;
const LINGER_BYTES = 8 * 1024 * 1024;

/**
 * Whether the request's body has not completely arrived. Always `false` in HTTP/2, where each stream ends
 * separately.
 */
function hasUnreadBody(req: IncomingMessage): boolean {
  return !req.complete && !req.destroyed && req.httpVersionMajor < 2 && hasBody(req) === true;
}

/**
 * Prepares a reply to a request whose body has not been read to its end. It adds `Connection: close` and lets the
 * connection linger until the client has received the reply. Without the header, a client that is still sending
 * would wait on the kept-alive connection. Without the lingering, the kernel would reset the connection and may
 * drop the reply (RFC 9112 §9.6).
 *
 * @returns The reply to send, without `Connection` in HTTP/2; the same object in the common case.
 */
export function finishRequestBody(req: IncomingMessage, given: Reply): Reply {
  // HTTP/2 forbids the header (RFC 9113 §8.2.2).
  const reply =
    req.httpVersionMajor < 2 ? given : { ...given, headers: withoutHeader(given.headers, "connection") };
  if (!hasUnreadBody(req)) {
    // The body has arrived but is partly unread: discard the buffered rest before the next request on the
    // connection.
    if (req.readableDidRead && !req.readableEnded) req.resume();
    return reply;
  }
  const headers = { ...reply.headers, Connection: "close" };
  const { body } = reply;
  if (body === undefined || body instanceof Readable) {
    void linger(req);
    return { ...reply, headers };
  }
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  return {
    status: reply.status,
    headers: { ...withoutHeader(headers, "content-length"), "Content-Length": String(bytes.byteLength) },
    body: lingeringBody(req, bytes),
  };
}

/** @param excluded In lower case. */
function withoutHeader(headers: Reply["headers"], excluded: string): Reply["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== excluded));
}

/**
 * Yields the reply's bytes at once and ends after the lingering: the framework closes the connection at the
 * end.
 */
function lingeringBody(req: IncomingMessage, bytes: Uint8Array): Readable {
  let sent = false;
  return new Readable({
    read() {
      if (sent) return;
      sent = true;
      this.push(bytes);
      void linger(req).then(() => this.push(null));
    },
  });
}

/**
 * Reads and discards the rest of the request, up to {@link LINGER_BYTES}. Resolves when the client has finished or
 * disconnected, at most after {@link LINGER_MS}. Never rejects.
 */
export function linger(req: Incoming): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    // Beyond the bound, stop reading but keep the connection open.
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > LINGER_BYTES) req.pause();
    };
    const done = () => {
      clearTimeout(timer);
      req.off("data", onData).off("end", done).off("close", done);
      resolve();
    };
    const timer = setTimeout(done, LINGER_MS);
    req.on("data", onData).on("end", done).on("close", done);
    req.resume();
  });
}

/** A reply of an adapter itself, as `application/problem+json` (RFC 9457). */
export function problemReply(method: string | undefined, status: number, title: string): Reply {
  const body = JSON.stringify({ type: "about:blank", title, status });
  const headers = {
    "Content-Type": "application/problem+json; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
  return method === "HEAD" ? { status, headers } : { status, headers, body };
}
