import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call, Reply, Service } from "@outrigger/core";
import { isConnectionLost } from "./connection-close.ts";
import type { RequestFacts } from "./host-view.ts";
import { NodeCall } from "./node-call.ts";
import { watchSending } from "./watch-sending.ts";

/** Creates the {@link Call} of a request, for passing it to a service without {@link dispatch}. */
export function createCall<Context>(
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
): Call {
  return new NodeCall(req, res, facts);
}

/**
 * Passes a request to `service`.
 *
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
): Promise<Reply | undefined | null> {
  if (facts.url === "*") return undefined;
  const call = new NodeCall(req, res, facts);
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

/**
 * Sends the reply that a service has at hand, without a promise.
 *
 * @returns `false`: there is none, and nothing was sent; pass the request on to `dispatch`.
 */
export function sendAtHand<Context>(
  service: Service,
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
): boolean {
  if (service.answerNow === undefined || facts.url === "*") return false;
  const reply = service.answerNow(new NodeCall(req, res, facts));
  if (reply === undefined) return false;
  if (isConnectionLost(res)) return true;
  const { status, headers, body } = reply;
  // The declared type of the list allows numbers and lists as values, and has no readonly form.
  res.writeHead(status, headers as string[]);
  res.end(body);
  if (body !== undefined) watchSending(res);
  return true;
}
