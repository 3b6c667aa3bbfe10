import type { IncomingMessage, ServerResponse } from "node:http";
import type { ReadyReply, Reply, Service } from "@outrigger/core";
import { isConnectionLost } from "./connection-close.ts";
import type { RequestFacts } from "./host-view.ts";
import { NodeCall } from "./node-call.ts";
import { dropCookies, dropLateCookies, watchSending } from "./send-reply.ts";

/** Creates the {@link Call} of a request, for passing it to a service without {@link dispatch}, or before it. */
export function createCall<Context>(
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
): NodeCall<Context> {
  return new NodeCall(req, res, facts);
}

/**
 * Passes a request to `service`.
 *
 * @param call The request's call, if the service had no reply at hand for it.
 * @returns The reply to send; `undefined` if the request is outside the service's routes (the adapter calls
 * the host's
 *   `next()`); `null` if the client has disconnected, so no reply can be sent.
 *   Rejects with errors that the service leaves to the host's error handling.
 */
export async function dispatch<Context>(
  service: Service,
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
  call: NodeCall<Context> = createCall(req, res, facts),
): Promise<Reply | undefined | null> {
  if (facts.url === "*") return undefined;
  try {
    return await service.handle(call);
  } catch (error) {
    // The client disconnected, which is not a failure of the host.
    if (call.isAbort(error)) return null;
    // The host replies now. With a partly read body, the client would wait for ever.
    if (req.readableDidRead) req.resume();
    throw error;
  } finally {
    call.settle();
  }
}

/** Sends the reply of {@link Service.answerNow}, without a promise. */
export function sendReady(res: ServerResponse, { status, headers, body }: ReadyReply): void {
  if (isConnectionLost(res)) return;
  const isReplaced = Object.hasOwn(res, "writeHead");
  if (isReplaced || res.hasHeader("Set-Cookie")) {
    setHeaders(res, status, headers);
    dropCookies(res);
    if (isReplaced) dropLateCookies(res);
  }
  // The declared type of the list allows numbers and lists as values, and has no readonly form.
  else res.writeHead(status, headers as string[]);
  res.end(body);
  if (body !== undefined) watchSending(res, body.length);
}

/** For a `writeHead` of middleware, such as `compression`: many read a list of headers as pairs. */
function setHeaders(res: ServerResponse, status: number, headers: readonly string[]): void {
  res.statusCode = status;
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
}
