import type { IncomingMessage, ServerResponse } from "node:http";
import { finished, Readable } from "node:stream";
import type { Reply, Service } from "@outrigger/core";
import { checkOptions, checkValue, type RuleTable, shapes } from "@outrigger/core/stores";
import {
  dispatch,
  finishRequestBody,
  type HostView,
  isBodyAllowed,
  mountPathRule,
  normaliseMountPath,
  onConnectionClose,
  stripPrefix,
  toOriginForm,
  watchSending,
} from "@outrigger/node";

/** What is used of a Koa context; those of Koa 2 and 3 both fit. */
export interface KoaContext {
  req: IncomingMessage;
  res: ServerResponse;
  /** The context's own request, where body parsers leave what they parsed. */
  request: object;
  originalUrl: string;
  protocol: string;
  host: string;
  ip: string;
  status: number;
  body: unknown;
}

export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>;

export interface KoaOptions {
  /**
   * Path under which the service is, as far as nothing else has taken it off: with `app.use` and with `@koa/router` the
   * whole path, under `koa-mount` nothing. Requests outside go to `next()`. @default "" (the root)
   */
  prefix?: string;
}

const RULES = { prefix: mountPathRule } satisfies RuleTable<KoaOptions>;

/**
 * Mounts a service in a Koa 2 or 3 app: at the root, under a prefix, under `koa-mount`, in a router. What is not the
 * service's own goes to `next()`, an unexpected failure is thrown. The reply is put on the context like anybody's, so
 * that middleware around it (logging, compression) keeps working.
 *
 * Protocol, host and client address are what `app.proxy` makes of them. `call.context` is the Koa context, with whatever
 * earlier middleware put there (`ctx.state`). Mount it before body parsers; a multipart body that the host has parsed
 * (`@koa/multer`, `koa-body`) is used where it holds the file.
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
 * In a router it has to be a route: `router.use` alone is never run, because `@koa/router` runs it only where a route
 * matches as well.
 */
export function koa(service: Service, options: KoaOptions = {}): KoaMiddleware {
  checkValue("koa: service", service, shapes.service);
  const prefix = normaliseMountPath(checkOptions("koa", options, RULES).prefix);
  return async (ctx, next) => {
    const place = locate(ctx.req.url ?? "/", ctx.originalUrl, prefix);
    const reply =
      place === null
        ? undefined
        : await dispatch(service, ctx.req, ctx.res, {
            url: place.url,
            mountPath: place.mountPath,
            context: ctx,
            view: KOA_VIEW,
          });
    if (reply === undefined) await next();
    // `null`: the client has left, so no reply is sent.
    else if (reply !== null) answer(ctx, finishRequestBody(ctx.req, reply));
  };
}

function answer(ctx: KoaContext, { status, headers, body }: Reply): void {
  const { res } = ctx;
  const isSent = body !== undefined && isBodyAllowed(ctx.req.method, status);
  if (!isSent) {
    if (body instanceof Readable) body.destroy();
    // Koa would put the status text into the body; this has to come first because it also drops headers and
    // turns the status into 204.
    res.removeHeader("Content-Type");
    ctx.body = null;
  }
  let hasType = false;
  for (const name in headers) {
    const value = headers[name];
    if (value === undefined) continue;
    // What ctx.set does, without its conversions.
    res.setHeader(name, value);
    hasType ||= name.length === 12 && name.toLowerCase() === "content-type";
  }
  if (isSent) {
    ctx.body = toKoaBody(body, res);
    // Koa guesses a type where there is none.
    if (!hasType) res.removeHeader("Content-Type");
    // Koa sends when the middleware around has returned; most replies are on their way by then, and need no watching.
    setImmediate(watchSending, res);
  }
  ctx.status = status;
}

function toKoaBody(body: string | Uint8Array | Readable, res: ServerResponse): unknown {
  if (body instanceof Readable) {
    // Koa does not hear of it while the reply waits for its turn.
    const stopListening = onConnectionClose(res, () => body.destroy());
    // Koa 2 leaves the connection open when the source fails, or ends it as if the reply were whole.
    finished(body, (error) => {
      stopListening();
      if (error && !res.writableFinished) res.destroy();
    });
    return body;
  }
  if (typeof body === "string" || Buffer.isBuffer(body)) return body;
  // Koa would take any other Uint8Array for an object to be sent as JSON.
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

/**
 * Where a request is, seen from the mount point.
 *
 * @param url The request target as it is now; `koa-mount` has taken its own prefix off.
 * @param originalUrl The request target as it came.
 * @param prefix What the adapter itself takes off.
 * @returns `null` when the request is not below the prefix.
 */
function locate(url: string, originalUrl: string, prefix: string): { url: string; mountPath: string } | null {
  const target = toOriginForm(url);
  if (target === null) return null;
  const below = stripPrefix(target, prefix);
  if (below === null) return null;
  const outer =
    url === originalUrl ? "" : mountedAt(pathOf(target), pathOf(toOriginForm(originalUrl) ?? "/"));
  return { url: below, mountPath: outer + prefix };
}

/** What has been taken off the front of `original` to make it `path`; empty when it was rewritten otherwise. */
function mountedAt(path: string, original: string): string {
  // koa-mount makes /img into /.
  const whole = path === "/" && !original.endsWith("/") ? `${original}/` : original;
  return whole.endsWith(path) ? whole.slice(0, whole.length - path.length) : "";
}

function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query === -1 ? target : target.slice(0, query);
}
