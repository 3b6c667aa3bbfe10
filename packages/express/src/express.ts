import type { IncomingMessage, ServerResponse } from "node:http";
import type { Service } from "@outrigger/core";
import { checkValue, shapes } from "@outrigger/core/stores";
import { dispatch, type HostView, sendAtHand, sendReply } from "@outrigger/node";

/** The members of an Express request that this adapter uses, for Express 4 and 5. */
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
 * Mounts a service in an Express 4 or 5 app: at the root, under a path or in a router, any number of times.
 * Requests outside the
 * service's routes go to `next()`, an unexpected failure to `next(error)`.
 *
 * Protocol, host and client address follow the app's `trust proxy` setting. `call.context` is the Express
 * request, with values that
 * earlier middleware added (`req.user`).
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
    const facts = { url: req.url ?? "/", mountPath: req.baseUrl, context: req, view: EXPRESS_VIEW };
    if (sendAtHand(service, req, res, facts)) return;
    dispatch(service, req, res, facts).then((reply) => {
      if (reply === undefined) next();
      // `null`: the client has disconnected, so no reply is sent.
      else if (reply !== null) sendReply(res, reply).catch(next);
    }, next);
  };
}

const EXPRESS_VIEW: HostView<ExpressRequest> = {
  protocol: (req) => req.protocol,
  host: (req) => {
    // Express 5's `req.host` does the same; that of Express 4 lacks the port and warns.
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

/** Whether the app trusts the forwarding headers of the socket's peer. */
function isProxyTrusted(req: ExpressRequest): boolean {
  const trust = req.app.get("trust proxy fn");
  return typeof trust === "function" && trust(req.socket.remoteAddress, 0) === true;
}
