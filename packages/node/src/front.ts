import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, rules, shapes } from "@outrigger/core/stores";
import { createCall, sendReady } from "./dispatch.ts";
import { nodeView } from "./node-listener.ts";
import { normaliseMountPath, pathRule, stripPrefix } from "./request-target.ts";

export interface FrontOptions {
  /** Path of the service in the app, such as `/img`. @default "/" */
  at?: string | undefined;
}

const RULES = { at: rules.preset("/", pathRule) } satisfies RuleTable<FrontOptions>;

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
  const mountPath = normaliseMountPath(checkOptions("front", options, RULES).at);
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
  const call = createCall(req, res, { url: below, mountPath, context: req, view: nodeView });
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
