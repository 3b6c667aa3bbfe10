import type { Server, ServerResponse } from "node:http";
import type { Incoming } from "./incoming.ts";

const waiting = new WeakMap<Incoming, ServerResponse>();

/**
 * Answers `Expect: 100-continue` (RFC 9110 §10.1.1) when a service begins to read the body, and not before. A client thus
 * keeps its body if the request is refused. Only for servers whose every body is read by a service: any other
 * reader would wait for a body that its client withholds.
 */
export function deferContinue(server: Server): void {
  server.on("checkContinue", (req, res) => {
    waiting.set(req, res);
    server.emit("request", req, res);
  });
}

/** Asks a client that waits for `100 Continue` for its body. */
export function sendContinue(req: Incoming): void {
  const res = waiting.get(req);
  if (res === undefined) return;
  waiting.delete(req);
  if (!res.headersSent) res.writeContinue();
}
