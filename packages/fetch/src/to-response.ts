import { Readable } from "node:stream";
import type { ReadyReply, Reply } from "@outrigger/core";
import { ClientLeftError, isBodyAllowed } from "@outrigger/node/adapter";

/**
 * Converts a reply to the response to `request`. Throws, and destroys a stream, if a header is not valid.
 *
 * @param rest Settles when the unread rest of the request's body was read. Absent: there is none.
 */
export function toResponse(
  request: Request,
  { status, headers, body }: Reply | ReadyReply,
  rest?: Promise<void> | undefined,
): Response {
  try {
    const init = { status, headers: toHeaders(headers) };
    // 205 is the one other status for which a web response refuses a body.
    if (body === undefined || status === 205 || !isBodyAllowed(request.method.toUpperCase(), status)) {
      destroyBody(body);
      return new Response(null, init);
    }
    if (body instanceof Readable) return new Response(toWebStream(body, request.signal), init);
    // A string would get a Content-Type.
    // No store shares its memory with other threads, which a response would refuse.
    const bytes = (typeof body === "string" ? Buffer.from(body) : body) as Uint8Array<ArrayBuffer>;
    if (rest === undefined) return new Response(bytes, init);
    init.headers.set("Content-Length", String(bytes.byteLength));
    return new Response(lingeringBody(bytes, rest), init);
  } catch (error) {
    destroyBody(body);
    throw error;
  }
}

/** The response that ends a request whose client has disconnected. No client receives it. */
export function toLostClient(body?: Reply["body"]): Response {
  destroyBody(body);
  return new Response(null, { status: 499 });
}

function destroyBody(body: Reply["body"]): void {
  if (body instanceof Readable) body.destroy();
}

function toHeaders(headers: Reply["headers"] | ReadyReply["headers"]): Headers {
  const sent = new Headers();
  for (const [name, value] of isFlat(headers) ? pairsOf(headers) : Object.entries(headers)) {
    // The connection is the host's. A host that closed it now would cut off a client that is still sending.
    if (value === undefined || name.toLowerCase() === "connection") continue;
    for (const each of typeof value === "string" ? [value] : value) sent.append(name, each);
  }
  return sent;
}

function isFlat(headers: Reply["headers"] | ReadyReply["headers"]): headers is readonly string[] {
  return Array.isArray(headers);
}

function pairsOf(flat: readonly string[]): [name: string, value: string | undefined][] {
  return flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1]]] : []));
}

/**
 * Yields the bytes at once and ends after the rest of the request's body: many hosts close the connection soon after a
 * reply to a client that is still sending, and that client may then lose the reply.
 */
function lingeringBody(bytes: Uint8Array, rest: Promise<void>): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (isSent) await rest;
        if (isSent) controller.close();
        else controller.enqueue(bytes);
        isSent = true;
      },
    },
    { highWaterMark: 0 },
  );
}

/**
 * A stream that reads from `source` when its consumer pulls. Cancelling it, and `signal`, destroy the source.
 *
 * Not `Readable.toWeb`: after a cancel it may throw "Controller is already closed" where nothing can catch it.
 */
function toWebStream(source: Readable, signal: AbortSignal): ReadableStream<Uint8Array> {
  // A source may fail before it is read. The iterator then reports the failure.
  source.on("error", () => {});
  const chunks = source.iterator({ destroyOnReturn: true });
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const onAbort = () => {
    controller.error(new ClientLeftError());
    source.destroy();
  };
  signal.addEventListener("abort", onAbort);
  source.once("close", () => signal.removeEventListener("abort", onAbort));
  return new ReadableStream<Uint8Array>(
    {
      start(given) {
        controller = given;
      },
      // A rejection fails the stream, and is ignored once the stream is cancelled.
      async pull() {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        source.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}
