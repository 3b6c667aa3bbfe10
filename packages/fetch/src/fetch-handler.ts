import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, rules, shapes } from "@outrigger/core/stores";
import { mountPathRule, normaliseMountPath, problemReply, stripPrefix, toOriginForm } from "@outrigger/node";
import { FetchCall } from "./fetch-call.ts";
import { toNobody, toResponse } from "./to-response.ts";

/** @typeParam Args What the host passes to its handlers beside the request, such as the `env` of Hono. */
export interface FetchHandlerOptions<Args extends unknown[] = unknown[]> {
  /** Path of the service, such as `/img`: the beginning of the path in the request's URL. @default "" (the root) */
  prefix?: string | undefined;
  /**
   * Returns the client's IP address, for the limits per client. Read it from the connection, or from a header that only
   * your proxy can set. Absent: all clients share one limit, and the first request writes a warning to `console.warn`.
   */
  clientAddress?: ((request: Request, ...args: Args) => string | undefined) | undefined;
  /**
   * Returns whether the client's request arrived over TLS. Plain HTTP is accepted for a loopback host name only, such as
   * `localhost`; the service's option `tls` changes that. Absent: the scheme of the request's URL decides.
   */
  isSecure?: ((request: Request, ...args: Args) => boolean) | undefined;
  /** Returns the value of `call.context` for the service's hooks. Absent: the request. */
  context?: ((request: Request, ...args: Args) => unknown) | undefined;
  /**
   * The result for a request outside the service's routes: a response with 404 as `application/problem+json`, or `null`,
   * so that the host can answer it. @default "not-found"
   */
  otherwise?: "not-found" | "null" | undefined;
}

const RULES = {
  prefix: mountPathRule,
  clientAddress: rules.fn(),
  isSecure: rules.fn(),
  context: rules.fn(),
  otherwise: rules.preset("not-found", rules.oneOf("not-found", "null")),
} satisfies RuleTable<FetchHandlerOptions>;

/**
 * A handler of web-standard requests: `(Request, …args) => Promise<Response>`. The arguments after the request go to the
 * functions among the options. The handler rejects with errors that the service leaves to the host's error handling.
 *
 * Mount it before middleware that reads request bodies.
 *
 * @example
 * ```ts
 * const handler = toFetchHandler(images, { prefix: "/img" });
 * app.all("/img/*", (c) => handler(c.req.raw)); // Hono
 * ```
 */
export function toFetchHandler<Args extends unknown[] = unknown[]>(
  service: Service,
  options: FetchHandlerOptions<Args> & { otherwise: "null" },
): (request: Request, ...args: Args) => Promise<Response | null>;
export function toFetchHandler<Args extends unknown[] = unknown[]>(
  service: Service,
  options?: FetchHandlerOptions<Args>,
): (request: Request, ...args: Args) => Promise<Response>;
export function toFetchHandler<Args extends unknown[]>(
  service: Service,
  options: FetchHandlerOptions<Args> = {},
): (request: Request, ...args: Args) => Promise<Response | null> {
  checkValue("toFetchHandler: service", service, shapes.service);
  const { clientAddress, isSecure, context, ...checked } = checkOptions("toFetchHandler", options, RULES);
  const mountPath = normaliseMountPath(checked.prefix);
  let mustWarn = clientAddress === undefined;

  const notOurs = (request: Request) =>
    checked.otherwise === "null" ? null : toResponse(request, problemReply(request.method, 404, "Not Found"));

  return async (request, ...args) => {
    const url = stripPrefix(targetOf(request), mountPath);
    if (url === null) return notOurs(request);
    if (mustWarn) {
      mustWarn = false;
      console.warn(WARNING);
    }
    const call = new FetchCall(request, {
      url,
      mountPath,
      context: context === undefined ? request : context(request, ...args),
      clientAddress: () => clientAddress?.(request, ...args),
      isSecure: () => isSecure?.(request, ...args) ?? request.url.startsWith("https:"),
    });
    let isOurs = true;
    try {
      const reply = await service.handle(call);
      if (reply === undefined) {
        isOurs = false;
        return notOurs(request);
      }
      return request.signal.aborted ? toNobody(reply.body) : toResponse(request, reply);
    } catch (error) {
      if (call.isAbort(error)) return toNobody();
      throw error;
    } finally {
      call.settle();
      if (isOurs) call.drain();
    }
  };
}

const WARNING =
  "Outrigger: toFetchHandler has no option clientAddress, so all clients share one rate limit. " +
  "Pass a function that returns the client's IP address.";

/** The path and query of a request's URL. */
function targetOf({ url }: Request): string {
  const fragment = url.indexOf("#");
  return toOriginForm(fragment === -1 ? url : url.slice(0, fragment)) ?? "/";
}
