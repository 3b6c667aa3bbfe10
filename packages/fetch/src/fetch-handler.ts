import type { Service } from "@outrigger/core";
import { checkOptions, checkValue, rules, shapes } from "@outrigger/core/stores";
import {
  mountPathRule,
  normaliseMountPath,
  problemReply,
  stripPrefix,
  toOriginForm,
} from "@outrigger/node/adapter";
import { FetchCall } from "./fetch-call.ts";
import { toLostClient, toResponse } from "./to-response.ts";

/** Arguments whose types the host does not declare. */
// biome-ignore lint/suspicious/noExplicitAny: without annotations, the functions can still use what their host passes.
type Any = any[];
type Otherwise = "not-found" | "null";

/**
 * @typeParam Args What the host passes to its handlers beside the request.
 * @typeParam Else The value of `otherwise`.
 */
export interface FetchHandlerOptions<Args extends unknown[] = Any, Else extends Otherwise = Otherwise> {
  /** Path of the service, such as `/img`. @default `""` (the root) */
  prefix?: string | undefined;
  /**
   * Returns the client's IP address, for the limits per client and the exemption of a loopback peer from TLS. Read it
   * from the connection, or from a header that only your proxy can set.
   * @default all clients share one limit, none is exempt from TLS, and the first request writes a warning to
   * `console.warn`
   */
  clientAddress?: ((request: Request, ...args: Args) => string | null | undefined) | undefined;
  /** Returns whether the client's request arrived over TLS. @default the scheme of the request's URL decides */
  isSecure?: ((request: Request, ...args: Args) => boolean) | undefined;
  /** Returns `call.context` for the service's hooks. @default the request */
  context?: ((request: Request, ...args: Args) => unknown) | undefined;
  /**
   * Result for a request outside the service's routes: a 404 as `application/problem+json`, or `null`, so that the
   * host can answer.
   * @default "not-found"
   */
  otherwise?: Else | undefined;
}

// The options that a caller gives have the types of its host.
const RULES = {
  prefix: mountPathRule,
  clientAddress: rules.fn<NonNullable<FetchHandlerOptions["clientAddress"]>>(),
  isSecure: rules.fn<NonNullable<FetchHandlerOptions["isSecure"]>>(),
  context: rules.fn<NonNullable<FetchHandlerOptions["context"]>>(),
  otherwise: rules.preset("not-found", rules.oneOf("not-found", "null")),
};

/** `null` only with `otherwise: "null"`. */
export type FetchHandler<Args extends unknown[], Else extends Otherwise> = (
  request: Request,
  ...args: Args
) => Promise<Else extends "null" ? Response | null : Response>;

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
export function toFetchHandler<Args extends unknown[] = Any, Else extends Otherwise = "not-found">(
  service: Service,
  options: FetchHandlerOptions<Args, Else> = {},
): FetchHandler<Args, Else> {
  checkValue("toFetchHandler: service", service, shapes.service);
  const { clientAddress, isSecure, context, ...checked } = checkOptions("toFetchHandler", options, RULES);
  const mountPath = normaliseMountPath(checked.prefix);
  let mustWarn = clientAddress === undefined;

  const notOurs = (request: Request) =>
    checked.otherwise === "null" ? null : toResponse(request, problemReply(request.method, 404, "Not Found"));

  const handle = async (request: Request, ...args: Args): Promise<Response | null> => {
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
      clientAddress: () => clientAddress?.(request, ...args) ?? "",
      isSecure: () => isSecure?.(request, ...args) ?? request.url.startsWith("https:"),
    });
    try {
      const reply = service.answerNow?.(call) ?? (await service.handle(call));
      if (reply === undefined) return notOurs(request);
      if (request.signal.aborted) return toLostClient(reply.body);
      return toResponse(request, reply, call.drain());
    } catch (error) {
      void call.drain();
      if (call.isAbort(error)) return toLostClient();
      throw error;
    } finally {
      call.settle();
    }
  };
  // It resolves to null only if the option says so, which is the type's condition.
  return handle as FetchHandler<Args, Else>;
}

const WARNING =
  "Outrigger: toFetchHandler has no option clientAddress, so all clients share one rate limit and need TLS. " +
  "Pass a function that returns the client's IP address.";

/** The path and query of a request's URL. */
function targetOf({ url }: Request): string {
  const fragment = url.indexOf("#");
  return toOriginForm(fragment === -1 ? url : url.slice(0, fragment)) ?? "/";
}
