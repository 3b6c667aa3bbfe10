import { createRequire } from "node:module";
import type { Service } from "@outrigger/core";
import type { AdapterHarness } from "@outrigger/testing";
import Koa3 from "koa";
import multer from "multer";
import { serve } from "../../fetch/test/serve.ts";
import { koa } from "../src/koa.ts";

// These packages have no types; the tests use only functions that Koa 2 and 3 share.
const load = createRequire(import.meta.url);
const Koa2: typeof Koa3 = load("koa-2");
export const mountAt: (prefix: string, middleware: Koa3.Middleware) => Koa3.Middleware = load("koa-mount");
const parseFields: () => Koa3.Middleware = load("koa-bodyparser");
type NodeMiddleware = (req: unknown, res: unknown, next: (error?: unknown) => void) => void;

export { Koa2, Koa3 };

/** Ways in which the contract tests mount the service at a path. */
export const WAYS = {
  prefix: (service: Service, mountPath: string) => koa(service, { prefix: mountPath }),
  "koa-mount": (service: Service, mountPath: string) => mountAt(mountPath || "/", koa(service)),
};

/** A host for the contract: an app of this Koa version that mounts the service at a path. */
export function harnessOf(Koa: typeof Koa3, place: (typeof WAYS)[keyof typeof WAYS]): AdapterHarness {
  return {
    hasHostRoutes: true,
    parsing: ["fields", "files", "nothing left"],
    async start(service, { mountPath, other, parsing }) {
      const app = new Koa();
      let lastError: unknown;
      app.on("error", (error) => {
        lastError = error;
      });
      if (parsing === "fields") app.use(parseFields());
      if (parsing === "files") app.use(leaveFiles);
      if (parsing === "nothing left") {
        app.use(async (ctx, next) => {
          await new Promise((resolve) => ctx.req.resume().once("end", resolve));
          await next();
        });
      }
      app.use(place(service, mountPath));
      if (other) app.use(place(other, "/other"));
      app.use(async (ctx, next) => {
        if (ctx.path === "/host") ctx.body = "host";
        else await next();
      });
      return { ...(await serve(app)), lastError: () => lastError };
    },
  };
}

/**
 * Receives files like `@koa/multer`: runs multer on the Node request and moves its results to Koa's request.
 */
async function leaveFiles(ctx: Koa3.Context, next: Koa3.Next): Promise<void> {
  const { req, res } = ctx;
  const receive = multer().any() as unknown as NodeMiddleware;
  await new Promise<void>((resolve, reject) =>
    receive(req, res, (error) => (error ? reject(error) : resolve())),
  );
  const { body, files } = req as typeof req & { body?: unknown; files?: unknown };
  Object.assign(ctx.request, { body, files });
  await next();
}
