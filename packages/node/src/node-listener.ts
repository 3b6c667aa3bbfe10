import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { TLSSocket } from "node:tls";
import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, rules, shapes } from "@outrigger/core/stores";
import { areHeadersSent } from "./connections.ts";
import type { HostView } from "./dispatch.ts";
import { createCall, dispatch, sendReady } from "./dispatch.ts";
import { locate, mountPathRule, normaliseMountPath } from "./request-target.ts";
import { problemReply, sendReply } from "./send-reply.ts";

export interface NodeListenerOptions {
  /** Path of the service, such as `/img`. @default "" (the root) */
  mountPath?: string | undefined;
  /** Receives every failure that was answered with 500 or by closing the connection. @default console.error */
  onError?: ((error: unknown) => void) | undefined;
}

const RULES = {
  mountPath: mountPathRule,
  onError: rules.preset((error: unknown) => console.error(error), rules.fn()),
} satisfies RuleTable<NodeListenerOptions>;

/** A listener for requests of HTTP/1 and HTTP/2. */
export type NodeListener = (
  req: IncomingMessage | Http2ServerRequest,
  res: ServerResponse | Http2ServerResponse,
) => void;

/**
 * A request listener for `http.createServer`, `https.createServer` and `http2.createSecureServer`, for hosts
 * without a framework. A request outside the service's routes gets 404, an unexpected failure 500, both as
 * `application/problem+json`. Under a host that removes prefixes (connect, polka), `mountPath` may be absent or the
 * whole path.
 *
 * It ignores forwarding headers: behind a proxy, every request seems to come from the proxy.
 *
 * @example
 * ```ts
 * const images = createImages({ storage, renderer, secret });
 * http.createServer(nodeListener(images, { mountPath: "/img" })).listen(8080);
 * ```
 */
export function nodeListener(service: Service, options: NodeListenerOptions = {}): NodeListener {
  checkValue("nodeListener: service", service, shapes.service);
  const { onError, ...checked } = checkOptions("nodeListener", options, RULES);
  const mountPath = normaliseMountPath(checked.mountPath);

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const { url = "/", originalUrl = url }: RoutedRequest = req;
    const place = locate(url, originalUrl, mountPath);
    if (place === null) return sendReply(res, problemReply(req.method, 404, "Not Found"));
    const facts = { url: place.url, mountPath: place.mountPath, context: req, view: nodeView };
    const call = createCall(req, res, facts);
    const ready = service.answerNow?.(call);
    if (ready !== undefined) return sendReady(res, ready);
    const reply = await dispatch(service, req, res, facts, call);
    if (reply === null) return;
    await sendReply(res, reply ?? problemReply(req.method, 404, "Not Found"));
  };
  return (given, givenRes) => {
    // Those of HTTP/2 behave like those of HTTP/1: Node's compatibility API.
    const [req, res] = [given as IncomingMessage, givenRes as ServerResponse];
    answer(req, res).catch((error: unknown) => {
      onError(error);
      if (areHeadersSent(res)) {
        // A truncated reply must not look complete.
        res.destroy();
        return;
      }
      for (const name of res.getHeaderNames()) res.removeHeader(name);
      void sendReply(res, problemReply(req.method, 500, "Internal Server Error"));
    });
  };
}

/** A request from which a host such as connect or polka has removed a prefix. */
interface RoutedRequest {
  url?: string | undefined;
  originalUrl?: string | undefined;
}

/** The view without a framework. */
export const nodeView: HostView<IncomingMessage> = {
  protocol: (req) => (req.socket instanceof TLSSocket ? "https" : "http"),
  host: (req) => {
    const authority = req.headers[":authority"];
    return typeof authority === "string" ? authority : req.headers.host;
  },
  clientIp: (req) => req.socket.remoteAddress,
  // Without a framework there is no body parser.
  parsedBody: () => undefined,
  parsedFiles: () => [],
};
