import type { ServerResponse } from "node:http";
import { pipeline, Readable } from "node:stream";
import type { Reply } from "@outrigger/core";
import { isConnectionLost, onConnectionClose } from "./connection-close.ts";
import { dropCookies, dropLateCookies } from "./drop-cookies.ts";
import { sendDirectly } from "./send-directly.ts";
import { finishRequestBody } from "./unread-body.ts";
import { watchSending } from "./watch-sending.ts";

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
