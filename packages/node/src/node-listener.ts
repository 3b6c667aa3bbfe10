import type { IncomingMessage, ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, rules, shapes } from "@outrigger/core/stores";
import { dispatch, sendAtHand } from "./dispatch.ts";
import type { HostView } from "./host-view.ts";
import { problemReply } from "./problem-reply.ts";
import { mountPathRule, normaliseMountPath, stripPrefix, toOriginForm } from "./request-target.ts";
import { sendReply } from "./send-reply.ts";

export interface NodeListenerOptions {
  /** Path of the service, such as `/img`. @default "" (the root) */
  mountPath?: string;
  /**
   * Receives every failure that was answered with 500 or by closing the connection. @default writes to
   * `console.error`
   */
  onError?: (error: unknown) => void;
}

const RULES = {
  mountPath: mountPathRule,
  onError: rules.preset((error: unknown) => console.error(error), rules.fn()),
} satisfies RuleTable<NodeListenerOptions>;

/**
 * A request listener for `http.createServer` and `https.createServer`, for hosts without a framework. A
 * request outside the
 * service's routes gets 404, an unexpected failure 500, both as `application/problem+json`.
 *
 * It ignores forwarding headers: behind a proxy, every request seems to come from the proxy.
 *
 * @example
 * ```ts
 * const images = createImages({ storage, renderer, secret });
 * http.createServer(nodeListener(images, { mountPath: "/img" })).listen(8080);
 * ```
 */
export function nodeListener(
  service: Service,
  options: NodeListenerOptions = {},
): (req: IncomingMessage, res: ServerResponse) => void {
  checkValue("nodeListener: service", service, shapes.service);
  const { onError, ...checked } = checkOptions("nodeListener", options, RULES);
  const mountPath = normaliseMountPath(checked.mountPath);

  const answer = async (req: IncomingMessage, res: ServerResponse) => {
    const target = toOriginForm(req.url ?? "/");
    const url = target === null ? null : stripPrefix(target, mountPath);
    if (url === null) return sendReply(res, problemReply(req.method, 404, "Not Found"));
    const facts = { url, mountPath, context: req, view: NODE_VIEW };
    if (sendAtHand(service, req, res, facts)) return;
    const reply = await dispatch(service, req, res, facts);
    if (reply === null) return;
    await sendReply(res, reply ?? problemReply(req.method, 404, "Not Found"));
  };
  return (req, res) => {
    answer(req, res).catch((error: unknown) => {
      onError(error);
      if (res.headersSent) {
        // A truncated reply must not look complete.
        res.destroy();
        return;
      }
      for (const name of res.getHeaderNames()) res.removeHeader(name);
      void sendReply(res, problemReply(req.method, 500, "Internal Server Error"));
    });
  };
}

const NODE_VIEW: HostView<IncomingMessage> = {
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
