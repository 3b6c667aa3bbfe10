import type { IncomingMessage, ServerResponse } from "node:http";
import type { Service } from "@outrigger/core";
import { checkValue, shapes } from "@outrigger/core/stores";
import { dispatch, type HostView, sendReply } from "@outrigger/node";

/** What is used of an Express request; those of Express 4 and 5 both fit. */
export interface ExpressRequest extends IncomingMessage {
  baseUrl: string;
  protocol: string;
  ip?: string | undefined;
  app: { get(setting: string): unknown };
}

export type ExpressMiddleware = (
  req: ExpressRequest,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Mounts a service in an Express 4 or 5 app: at the root, under a path, in a router, as often as you like. What is not
 * the service's own goes to `next()`, an unexpected failure to `next(error)`.
 *
 * Protocol, host and client address are what the app's `trust proxy` setting makes of them. `call.context` is the
 * Express request, with whatever earlier middleware put there (`req.user`).
 *
 * Mount it before body parsers; a multipart body that the host has parsed (`multer`) is used where it holds the file.
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
    dispatch(service, req, res, {
      url: req.url ?? "/",
      mountPath: req.baseUrl,
      context: req,
      view: EXPRESS_VIEW,
    }).then((reply) => {
      if (reply === undefined) next();
      // `null`: the client has left, there is nobody to be answered.
      else if (reply !== null) sendReply(res, reply).catch(next);
    }, next);
  };
}

const EXPRESS_VIEW: HostView<ExpressRequest> = {
  protocol: (req) => req.protocol,
  host: (req) => {
    // Express 5's `req.host` does the same; that of Express 4 has no port and warns.
    const forwarded = req.headers["x-forwarded-host"];
    if (typeof forwarded === "string" && forwarded !== "" && isProxyTrusted(req)) {
      return forwarded.split(",", 1)[0]?.trim();
    }
    return req.headers.host;
  },
  clientIp: (req) => req.ip,
  parsedBody: (req) => Reflect.get(req, "body"),
  parsedFiles: (req) => [Reflect.get(req, "file"), Reflect.get(req, "files")],
};

/** Whether the app vouches for the forwarding headers of whoever is at the other end of the socket. */
function isProxyTrusted(req: ExpressRequest): boolean {
  const trust = req.app.get("trust proxy fn");
  return typeof trust === "function" && trust(req.socket.remoteAddress, 0) === true;
}
