import type { RequestListener } from "node:http";
import type { Service } from "@outrigger/core";
import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import express5 from "express";
import Koa3 from "koa";
import { serveHost } from "../support/listen.ts";

export interface AppOptions {
  /** Services by their mount paths. */
  services: Readonly<Record<string, Service>>;
}

export interface App {
  /** `http://127.0.0.1:port` */
  origin: string;
  /** Stops accepting requests and cuts connections. */
  close(): Promise<void>;
}

/**
 * A complete app: a cookie session (`session=<name>` sets the name as `user` where middleware usually puts it), its own
 * pages at `/host`, and a not-found page and an error page in HTML.
 */
const APPS = {
  "Express 5": expressApp,
  "Koa 3": koaApp,
} satisfies Record<string, (options: AppOptions) => RequestListener>;

export type AppName = keyof typeof APPS;

export const APP_NAMES = Object.keys(APPS) as AppName[]; // The keys of the table above.

export function startApp(name: AppName, options: AppOptions): Promise<App> {
  return serveHost(APPS[name](options));
}

/** The user of the app's session, from where the framework stores it. */
export function userOf(context: unknown): string | null {
  const holder: unknown = Reflect.get(Object(context), "state") ?? context;
  const user: unknown = Reflect.get(Object(holder), "user");
  return typeof user === "string" ? user : null;
}

const NOT_FOUND = "<!doctype html><title>not found</title>";
const FAILED = "<!doctype html><title>failed</title>";

function expressApp({ services }: AppOptions): RequestListener {
  const app = express5();
  app.use((req, _res, next) => {
    Reflect.set(req, "user", sessionOf(req.headers.cookie));
    next();
  });
  for (const [path, service] of Object.entries(services)) app.use(path, express(service));
  app.get("/host", (_req, res) => void res.send("the host's own"));
  app.use((_req, res) => void res.status(404).send(NOT_FOUND));
  app.use(
    (_error: unknown, _req: express5.Request, res: express5.Response, _next: express5.NextFunction) =>
      void res.status(500).send(FAILED),
  );
  return app;
}

function koaApp({ services }: AppOptions): RequestListener {
  const app = new Koa3();
  app.silent = true;
  app.use(async (ctx: Koa3.Context, next: Koa3.Next) => {
    ctx.state.user = sessionOf(ctx.headers.cookie);
    try {
      await next();
    } catch {
      // Whatever the error, tests check for the page that shows it.
      ctx.status = 500;
      ctx.body = FAILED;
    }
  });
  for (const [path, service] of Object.entries(services)) app.use(koa(service, { prefix: path }));
  app.use((ctx: Koa3.Context) => {
    const isHost = ctx.path === "/host";
    ctx.status = isHost ? 200 : 404;
    ctx.body = isHost ? "the host's own" : NOT_FOUND;
  });
  return app.callback();
}

function sessionOf(cookie: string | undefined): string | null {
  return /(?:^|; )session=(\w+)/.exec(cookie ?? "")?.[1] ?? null;
}
