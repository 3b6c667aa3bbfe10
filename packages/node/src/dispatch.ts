import type { IncomingMessage, ServerResponse } from "node:http";
import type { Call, Reply, Service } from "@outrigger/core";
import type { RequestFacts } from "./host-view.ts";
import { NodeCall } from "./node-call.ts";

/** The {@link Call} of a request, for handing to a service by other means than {@link dispatch}. */
export function createCall<Context>(
  req: IncomingMessage,
  res: ServerResponse,
  facts: RequestFacts<Context>,
): Call {
  return new NodeCall(req, res, facts);
}

/**
 * Lets `service` handle a request.
 *
 * @returns The reply to send; `undefined` when the request is not the service's own (the adapter calls the host's
 *   `next()`); `null` when the client left meanwhile, so that nobody is there to be answered.
 *   Rejects with whatever the service means for the host's error handling.
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
    // The client's own departure is no failure of the host's, and there is nobody to tell.
    if (call.isAbort(error)) return null;
    // The host answers now; a body that we left half read would make the client wait for ever.
    if (req.readableDidRead) req.resume();
    throw error;
  } finally {
    call.settle();
  }
}
