import { type RequestListener, STATUS_CODES } from "node:http";
import { createApiDescription, type Images, type Lookup, type Service } from "@outrigger/core";
import type { Pages } from "@outrigger/core/images";
import { express as mount } from "@outrigger/express";
import { front } from "@outrigger/node";
import expressApp, { type Express, type NextFunction, type Request, type Response } from "express";
import type { Logger } from "pino";
import type { ServerSettings } from "../../config/settings.ts";
import { createHealth, type HealthOptions } from "./health.ts";
import type { Readiness } from "./readiness.ts";
import { safeTarget } from "./redact.ts";
import { baseOf, problemReply, reply, wantsHtml } from "./replies.ts";
import { createRequestLog, requestIdOf } from "./request-log.ts";
import { createTerminalGuide } from "./terminal-guide.ts";

const NOT_FOUND = "There is nothing at this address.";

export interface AppParts {
  images: Images;
  /** `null` if the lookup is off. */
  lookup: Lookup | null;
  pages: Pages;
  readiness: Readiness;
  leases: HealthOptions["leases"];
  isDraining(): boolean;
  logger: Logger;
}

/** The request log, pictures in memory, and the Express app for everything else. */
export function createListener(settings: ServerSettings, parts: AppParts): RequestListener {
  const log = createRequestLog(parts.logger, settings.log.clients === "full");
  const listener = front(parts.images, createApp(settings, parts));
  return (req, res) => log(req, res, () => listener(req, res));
}

/** The Express app: health, images and lookup at `/`, 404. */
function createApp(settings: ServerSettings, parts: AppParts): Express {
  const { images, lookup, pages, logger } = parts;
  const app = expressApp();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", false);
  app.set("trust proxy", settings.trustProxy);
  app.use(mount(createHealth(parts)));
  app.use(mount(createTerminalGuide(settings)));
  const { publicUrl, tls, images: { cors } = {} } = settings;
  if (lookup !== null) app.use(mount(createApiDescription([images, lookup], { publicUrl, tls, cors })));
  app.use(mount(images));
  // Mounted after the images, so that image requests do not pass through it. No image address is below /v2.
  if (lookup !== null) app.use(mount(lookup));
  app.use(mount(createNotFound(pages, publicUrl)));
  app.use(createFailureHandler(logger));
  return app;
}

/** Handles failures after the reply began, and bugs. The default handler of Express would print what is logged here. */
function createFailureHandler(logger: Logger) {
  // Express recognizes an error handler by its four parameters.
  return (err: unknown, req: Request, res: Response, _next: NextFunction): void => {
    logger.error(
      { id: requestIdOf(req), method: req.method, path: safeTarget(req.originalUrl), err },
      "failed",
    );
    if (res.headersSent) {
      res.destroy();
      return;
    }
    const problem = { type: "about:blank", title: "Internal Server Error", status: 500 };
    res
      .status(500)
      .set("Cache-Control", "no-store")
      .type("application/problem+json")
      .send(JSON.stringify(problem));
  };
}

/**
 * The last service: answers 404 to every request, with a page to browsers and a problem (RFC 9457) to programs.
 * @param publicUrl The option of the images.
 */
export function createNotFound(pages: Pages, publicUrl: string | undefined): Service {
  return {
    async handle(call) {
      if (!wantsHtml(call)) return problemReply(call, 404, NOT_FOUND, { Vary: "Accept" });
      const page = pages.problem({
        baseUrl: baseOf(call, publicUrl),
        ...(call.headers["accept-language"] && { acceptLanguage: call.headers["accept-language"] }),
        status: 404,
        title: STATUS_CODES[404] ?? "",
        detail: NOT_FOUND,
      });
      return reply(call, 404, "text/html; charset=utf-8", page.html, {
        ...page.headers,
        Vary: ["Accept", page.headers?.Vary].filter(Boolean).join(", "),
        "Content-Security-Policy": page.contentSecurityPolicy,
        "Referrer-Policy": "no-referrer",
      });
    },
  };
}
