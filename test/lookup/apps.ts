import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import type { Service } from "@outrigger/core";
import { express } from "@outrigger/express";
import { koa } from "@outrigger/koa";
import express5 from "express";
import express4 from "express-4";
import Koa3 from "koa";
import Koa2 from "koa-2";
import bodyParser from "koa-bodyparser";

export interface AppOptions {
  /** Services by their mount paths. */
  services: Readonly<Record<string, Service>>;
  /** Whether the app parses JSON and forms before anything else. @default false */
  parsesBodies?: boolean;
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
  "Express 4": (options) => expressApp(express4, options),
  "Express 5": (options) => expressApp(express5, options),
  "Koa 2": (options) => koaApp(new Koa2(), options),
  "Koa 3": (options) => koaApp(new Koa3(), options),
} satisfies Record<string, (options: AppOptions) => RequestListener>;

export type AppName = keyof typeof APPS;

export const APP_NAMES = Object.keys(APPS) as AppName[]; // The keys of the table above.

export async function startApp(name: AppName, options: AppOptions): Promise<App> {
  const server = createServer(APPS[name](options));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // Listening on TCP.
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The user of the app's session, from where the framework stores it. */
export function userOf(context: unknown): string | null {
  const holder: unknown = Reflect.get(Object(context), "state") ?? context;
  const user: unknown = Reflect.get(Object(holder), "user");
  return typeof user === "string" ? user : null;
}

const NOT_FOUND = "<!doctype html><title>not found</title>";
const FAILED = "<!doctype html><title>failed</title>";

function expressApp(framework: typeof express5, { services, parsesBodies }: AppOptions): RequestListener {
  const app = framework();
  app.use((req, _res, next) => {
    Reflect.set(req, "user", sessionOf(req.headers.cookie));
    next();
  });
  if (parsesBodies) app.use(framework.json(), framework.urlencoded({ extended: true }));
  for (const [path, service] of Object.entries(services)) app.use(path, express(service));
  app.get("/host", (_req, res) => void res.send("the host's own"));
  app.use((_req, res) => void res.status(404).send(NOT_FOUND));
  app.use(
    (_error: unknown, _req: express5.Request, res: express5.Response, _next: express5.NextFunction) =>
      void res.status(500).send(FAILED),
  );
  return app;
}

function koaApp(app: Koa3 | Koa2, { services, parsesBodies }: AppOptions): RequestListener {
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
  if (parsesBodies) app.use(bodyParser());
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
