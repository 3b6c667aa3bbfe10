import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, Readable } from "node:stream";
import type { ReadyReply, Reply, Service } from "@outrigger/core";
import { checkOptions, checkValue, type rules, shapes } from "@outrigger/core/stores";
import {
  dispatch,
  dropLateCookies,
  finishRequestBody,
  type HostView,
  isBodyAllowed,
  locate,
  mountPathRule,
  NodeCall,
  normaliseMountPath,
  onConnectionClose,
  sendDirectly,
  sendReady,
  watchSending,
} from "@outrigger/node/adapter";

/** The members of a Koa context that this adapter uses, for Koa 2 and 3. */
export interface KoaContext {
  req: IncomingMessage;
  res: ServerResponse;
  /** The context's own request, where body parsers store their results. */
  request: object;
  originalUrl: string;
  protocol: string;
  host: string;
  ip: string;
  status: number;
  body: unknown;
  onerror(error: Error | null): void;
  /** The app's own middleware, outermost first. */
  app?: { middleware?: readonly unknown[] | undefined } | undefined;
}

export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>;
const RULES = {
  /**
   * Path of the service without the part that other middleware strips: the whole path with `app.use` and
   * `@koa/router`, empty under `koa-mount`. Other requests go to `next()`.
   * @default `""` (the root)
   */
  prefix: mountPathRule,
};

export interface KoaOptions extends rules.Options<typeof RULES> {}

/**
 * Mounts a service in a Koa 2 or 3 app: at the root, under a prefix, under `koa-mount` or in a router. Requests
 * outside the service's routes go to `next()`; an unexpected failure is thrown. A client that disconnects is no
 * error of the app, so `app.on("error")` does not report it. The reply is set on the context, so that middleware
 * around it (logging, compression) works as usual.
 *
 * Protocol, host and client address follow `app.proxy`. `call.context` is the Koa context, with values that earlier
 * middleware added (`ctx.state`). Mount it before body parsers. It also accepts a multipart body that the host has
 * parsed (`@koa/multer`, `koa-body`), if it contains the file.
 *
 * @example
 * ```ts
 * const app = new Koa();
 * app.use(koa(images, { prefix: "/img" }));
 * // or: app.use(mount("/img", koa(images)))                            with koa-mount
 * // or: router.all("/img{/*path}", koa(images, { prefix: "/img" }))    with @koa/router
 * app.listen(8080);
 * ```
 *
 * In a router, mount it as a route: `@koa/router` runs `router.use` only for requests that also match a route.
 */
export function koa(service: Service, options: KoaOptions = {}): KoaMiddleware {
  checkValue("koa: service", service, shapes.service);
  const prefix = normaliseMountPath(checkOptions("koa", options, RULES).prefix);
  const middleware: KoaMiddleware = async (ctx, next) => {
    const { req, res } = ctx;
    const target = locate(req.url ?? "/", ctx.originalUrl, prefix);
    if (target === null) return void (await next());
    const facts = { ...target, context: ctx, view: KOA_VIEW };
    const call = new NodeCall(req, res, facts);
    const report = ctx.onerror;
    ctx.onerror = (error) => {
      // Koa also calls it without an error, when the reply is sent.
      if (error && !DISCONNECTED.test(String(Reflect.get(error, "code")))) report.call(ctx, error);
    };
    const ready = service.answerNow?.(call);
    if (ready !== undefined) {
      // No middleware around it could see or change the reply. Koa sends nothing after it.
      if (ctx.app?.middleware?.[0] === middleware) return sendReady(res, ready);
      return answerReady(ctx, ready);
    }
    let reply: Reply | null | undefined;
    try {
      reply = await dispatch(service, req, res, facts, call);
    } finally {
      // Failures that are thrown, and requests of the host, are reported in full.
      if (reply === undefined) ctx.onerror = report;
    }
    if (reply === undefined) await next();
    // `null`: the client has disconnected, so no reply is sent.
    else if (reply !== null) answer(ctx, finishRequestBody(req, reply));
  };
  return middleware;
}

/** What Koa reports when a client aborts an upload or a download, or goes on sending after a 413. */
const DISCONNECTED = /^(?:HPE_|ECONNRESET$|EPIPE$|ERR_STREAM_PREMATURE_CLOSE$|ERR_STREAM_UNABLE_TO_PIPE$)/;

function answerReady(ctx: KoaContext, { status, headers, body }: ReadyReply): void {
  const { res } = ctx;
  // First, because it also removes headers.
  if (body === undefined) ctx.body = null;
  ctx.status = status;
  for (let at = 0; at < headers.length; at += 2) res.setHeader(headers[at] ?? "", headers[at + 1] ?? "");
  dropLateCookies(res);
  if (body !== undefined) {
    ctx.body = toKoaBody(body, res);
    setImmediate(watchSending, res);
  }
}

function answer(ctx: KoaContext, { status, headers, body }: Reply): void {
  const { res } = ctx;
  const isSent = body !== undefined && isBodyAllowed(ctx.req.method, status);
  if (!isSent) {
    if (body instanceof Readable) body.destroy();
    // Without this, Koa would send the status text as body. It comes first because it also removes headers
    // and changes the status to 204.
    res.removeHeader("Content-Type");
    ctx.body = null;
  }
  let hasType = false;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    // Like ctx.set, without its conversions.
    res.setHeader(name, value);
    hasType ||= name.length === 12 && name.toLowerCase() === "content-type";
  }
  dropLateCookies(res);
  if (isSent) {
    ctx.body = toKoaBody(body, res);
    // Removes the type that Koa guesses if the reply has none.
    if (!hasType) res.removeHeader("Content-Type");
    // Koa sends after the surrounding middleware has returned. Most replies are sent by then and need no
    // watching.
    setImmediate(watchSending, res);
  }
  ctx.status = status;
}

function toKoaBody(body: string | Uint8Array | Readable, res: ServerResponse): unknown {
  if (body instanceof Readable) {
    // Koa does not notice a closed connection while the reply is queued behind a pipelined one.
    const stopListening = onConnectionClose(res, () => body.destroy());
    // If the source fails, Koa 2 leaves the connection open or ends it as if the reply were complete.
    finished(body, (error) => {
      stopListening();
      if (error && !res.writableFinished) res.destroy();
    });
    sendDirectly(res, body);
    return body;
  }
  if (typeof body === "string" || Buffer.isBuffer(body)) return body;
  // Koa would send any other Uint8Array as JSON.
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
}

const KOA_VIEW: HostView<KoaContext> = {
  protocol: (ctx) => ctx.protocol,
  host: (ctx) => ctx.host || undefined,
  clientIp: (ctx) => ctx.ip,
  parsedBody: (ctx) => Reflect.get(ctx.request, "body"),
  parsedFiles: (ctx) => [
    Reflect.get(ctx.request, "file"),
    Reflect.get(ctx.request, "files"),
    Reflect.get(ctx, "file"),
    Reflect.get(ctx, "files"),
  ],
};
