import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Reply } from "@outrigger/core";
import { hasBody } from "./body-pump.ts";
import type { Incoming } from "./incoming.ts";

const LINGER_MS = 1000;
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
