import type { IncomingMessage, ServerResponse } from "node:http";
import type { Service } from "@outrigger/core";
import { checkValue, shapes } from "@outrigger/core/stores";
import {
  dispatch,
  type HostView,
  locate,
  type MountedTarget,
  NodeCall,
  nodeView,
  sendReady,
  sendReply,
} from "@outrigger/node/adapter";

/** The members of an Express request that this adapter uses, for Express 4 and 5. Other hosts of middleware lack some. */
export interface ExpressRequest extends IncomingMessage {
  baseUrl?: string | undefined;
  originalUrl?: string | undefined;
  protocol?: string | undefined;
  ip?: string | undefined;
  app?: { get(setting: string): unknown } | undefined;
}

export type ExpressMiddleware = (
  req: ExpressRequest,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts a service in an Express 4 or 5 app: at the root, under a path or in a router, any number of times.
 * Requests outside the service's routes go to `next()`, an unexpected failure to `next(error)`.
 *
 * Protocol, host and client address follow the app's `trust proxy` setting. `call.context` is the Express request,
 * with values that earlier middleware added (`req.user`).
 *
 * Other hosts of `(req, res, next)` middleware mount it too: connect, polka, `@fastify/middie`. Without the members that
 * Express adds, the mount path is `originalUrl` minus `url`, and the rest is read from the socket and the header `Host`.
 *
 * Mount it before body parsers. It also accepts a multipart body that the host has parsed (`multer`), if it
 * contains the file.
 *
 * @example
 * ```ts
 * import express from "express";
 * import { express as mount } from "@outrigger/express";
 *
 * const app = express();
 * app.use("/img", mount(images));
 * app.listen(8080);
 * ```
 */
export function express(service: Service): ExpressMiddleware {
  checkValue("express: service", service, shapes.service);
  return (req, res, next) => {
    const target = mountedTarget(req);
    if (target === null) return next();
    const facts = { ...target, context: req, view: EXPRESS_VIEW };
    const call = new NodeCall(req, res, facts);
    const ready = service.answerNow?.(call);
    if (ready !== undefined) return sendReady(res, ready);
    dispatch(service, req, res, facts, call).then((reply) => {
      if (reply === undefined) next();
      // `null`: the client has disconnected, so no reply is sent.
      else if (reply !== null) sendReply(res, reply).catch(next);
    }, next);
  };
}

/** `null` for the target `*`, which addresses the server as a whole. */
function mountedTarget({ url = "/", baseUrl, originalUrl = url }: ExpressRequest): MountedTarget | null {
  return baseUrl === undefined ? locate(url, originalUrl, "") : { url, mountPath: baseUrl };
}

const EXPRESS_VIEW: HostView<ExpressRequest> = {
  protocol: (req) => req.protocol ?? nodeView.protocol(req),
  host: (req) => {
    // Express 5's `req.host` does the same; that of Express 4 lacks the port and warns.
    const forwarded = req.headers["x-forwarded-host"];
    if (typeof forwarded === "string" && forwarded !== "" && isProxyTrusted(req)) {
      return forwarded.split(",", 1)[0]?.trim();
    }
    return nodeView.host(req);
  },
  clientIp: (req) => req.ip ?? nodeView.clientIp(req),
  parsedBody: (req) => Reflect.get(req, "body"),
  parsedFiles: (req) => [Reflect.get(req, "file"), Reflect.get(req, "files")],
};

/** Whether the app trusts the forwarding headers of the socket's peer. */
function isProxyTrusted(req: ExpressRequest): boolean {
  const trust = req.app?.get("trust proxy fn");
  return typeof trust === "function" && trust(req.socket.remoteAddress, 0) === true;
}
