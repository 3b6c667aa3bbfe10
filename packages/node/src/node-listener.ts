import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { TLSSocket } from "node:tls";
import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, rules, shapes } from "@outrigger/core/stores";
import { areHeadersSent } from "./connections.ts";
import type { HostView } from "./dispatch.ts";
import { dispatch, NodeCall, sendReady } from "./dispatch.ts";
import { locate, mountPathRule, normaliseMountPath, pathRule, stripPrefix } from "./request-target.ts";
import { problemReply, sendReply } from "./send-reply.ts";

const RULES = {
  /** Path of the service, such as `/img`. @default "" (the root) */
  mountPath: mountPathRule,
  /** Receives every failure that was answered with 500 or by closing the connection. @default console.error */
  onError: rules.preset((error: unknown) => console.error(error), rules.fn<(error: unknown) => void>()),
};

export interface NodeListenerOptions extends rules.Options<typeof RULES> {}

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
    const target = locate(url, originalUrl, mountPath);
    if (target === null) return sendReply(res, problemReply(req.method, 404, "Not Found"));
    const facts = { ...target, context: req, view: nodeView };
    const call = new NodeCall(req, res, facts);
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

const FRONT_RULES = {
  /** Path of the service in the app, such as `/img`. @default "/" */
  at: rules.preset("/", pathRule),
};

export interface FrontOptions extends rules.Options<typeof FRONT_RULES> {}

/**
 * Puts the service's replies at hand before a framework: a public picture in memory is sent before `app` runs. Every other
 * request goes to `app` unchanged, in which the service is mounted as usual.
 *
 * The replies pass no middleware of `app`: no logs, no sessions, no headers such as those of helmet. A request with a forwarding
 * header (`Forwarded`, `Via`, `X-Forwarded-*`, or a name that ends in `-IP`) goes to `app`, because only the framework knows
 * whether to trust it. With the option `authorize`, every request goes to `app`.
 *
 * @param app An Express app, `koa.callback()`, or any other request listener.
 * @example
 * ```ts
 * app.use("/img", express(images));
 * http.createServer(front(images, app, { at: "/img" })).listen(8080);
 * ```
 */
export function front(service: Service, app: RequestListener, options: FrontOptions = {}): RequestListener {
  checkValue("front: service", service, shapes.service);
  checkValue("front: app", app, rules.fn());
  const mountPath = normaliseMountPath(checkOptions("front", options, FRONT_RULES).at);
  return (req, res) => {
    if (!sendInFront(service, req, res, mountPath)) app(req, res);
  };
}

function sendInFront(
  service: Service,
  req: IncomingMessage,
  res: ServerResponse,
  mountPath: string,
): boolean {
  const { method, url = "", headers } = req;
  if (method !== "GET" && method !== "HEAD") return false;
  const below = stripPrefix(url, mountPath);
  if (below === null || isForwarded(headers)) return false;
  const call = new NodeCall(req, res, { url: below, mountPath, context: req, view: nodeView });
  const ready = service.answerNow?.(call, true);
  if (ready === undefined) return false;
  sendReady(res, ready);
  return true;
}

function isForwarded(headers: IncomingMessage["headers"]): boolean {
  for (const name in headers) {
    if (name === "forwarded" || name === "via" || name.startsWith("x-forwarded-") || name.endsWith("-ip")) {
      return true;
    }
  }
  return false;
}
