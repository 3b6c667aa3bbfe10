import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import type { Reply } from "@outrigger/core";
import { hasBody } from "./body-pump.ts";

const LINGER_MS = 1000;
const LINGER_BYTES = 8 * 1024 * 1024;

/** Whether bytes of the request's body are still to come. HTTP/2 needs no care: there a stream ends by itself. */
function hasUnreadBody(req: IncomingMessage): boolean {
  return !req.complete && !req.destroyed && req.httpVersionMajor < 2 && hasBody(req);
}

/**
 * Makes a reply fit to be sent while the request's body has not been read to its end: `Connection: close`, and the
 * connection lingers until the client has seen the reply. Without the first a client that is still sending waits on the
 * kept-alive connection; without the second the kernel resets the connection and may take the reply with it
 * (RFC 9112 §9.6).
 *
 * @returns The reply to send; the same object in the common case.
 */
export function finishRequestBody(req: IncomingMessage, reply: Reply): Reply {
  if (!hasUnreadBody(req)) {
    // All of it has arrived, some of it unread: what is buffered has to go before the next request on the connection.
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
    headers: { ...withoutLength(headers), "Content-Length": String(bytes.byteLength) },
    body: lingeringBody(req, bytes),
  };
}

function withoutLength(headers: Reply["headers"]): Reply["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-length$/i.test(name)));
}

/** The reply's bytes at once, its end when the lingering is over: the framework closes the connection at the end. */
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
 * Reads and drops what the client still sends, up to a bound, and resolves when it has finished or left, at the latest
 * after {@link LINGER_MS}. Never rejects.
 */
function linger(req: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    // Beyond the bound the client is no longer helped by reading on, only by still being connected.
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
