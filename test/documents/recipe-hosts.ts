import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Service } from "@outrigger/core";
import { express as inExpress } from "@outrigger/express";
import { koa as inKoa } from "@outrigger/koa";
import express, { type Express } from "express";
import Koa from "koa";
import { expect } from "vitest";
import { codeOf, run } from "./recipe-blocks.ts";

type Handle = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

/** An app of one framework, whose login takes the user from a header. */
export interface Host {
  mount(service: Service, path: string): void;
  route(path: string, handle: Handle): void;
  /** Mounts an app of Express: in Koa, by the block of the page. */
  pass(app: Express): Promise<void>;
  /** Runs a block that mounts a service in `app`. */
  runMount(code: string, given: Record<string, unknown>): Promise<void>;
  listener(): RequestListener;
}

const userOf = ({ headers }: IncomingMessage) =>
  headers["x-user"] === undefined ? undefined : JSON.parse(String(headers["x-user"]));

export function expressHost(): Host {
  const app = express();
  const identifyUser: express.RequestHandler = (req, _res, next) => {
    Object.assign(req, { user: userOf(req) });
    next();
  };
  return {
    mount: (service, path) => void app.use(path, identifyUser, inExpress(service)),
    route: (path, handle) => void app.use(path, (req, res, next) => void handle(req, res).catch(next)),
    pass: async (other) => void app.use(other),
    runMount: (code, given) =>
      run(code, { ...given, app, identifyUser, express: inExpress }) as Promise<undefined>,
    listener: () => app,
  };
}

export function koaHost(): Host {
  const app = new Koa();
  app.use((ctx, next) => {
    ctx.state.user = userOf(ctx.req);
    return next();
  });
  const mount = (service: Service, path: string) => void app.use(inKoa(service, { prefix: path }));
  return {
    mount,
    route(path, handle) {
      app.use((ctx, next) => (ctx.path === path ? handle(ctx.req, ctx.res) : next()));
    },
    async pass(other) {
      const code = codeOf("Receive webhooks", "koaApp.use").replace("/hooks/", "/");
      await run(code, { koaApp: app, app: other });
    },
    async runMount(code, given) {
      // The line of Koa stands in the comment.
      const changed = code.replace(/^app\.use\(.*; \/\/ in Koa: (.*)$/m, "$1");
      expect(changed).not.toBe(code);
      await run(changed, { ...given, app, koa: inKoa });
    },
    listener: () => app.callback(),
  };
}
