import type { RequestListener } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import type { Service } from "@outrigger/core";
import { express } from "@outrigger/express";
import { toFetchHandler } from "@outrigger/fetch";
import { koa } from "@outrigger/koa";
import { nodeListener } from "@outrigger/node";
import express5 from "express";
import express4 from "express-4";
import { Hono } from "hono";
import Koa3 from "koa";
import Koa2 from "koa-2";
import { type Host, serveHost } from "./listen.ts";

const LISTENERS = {
  "Express 5": (service, mountPath) => mountInExpress(express5(), service, mountPath),
  "Express 4": (service, mountPath) => mountInExpress(express4(), service, mountPath),
  "Koa 3": (service, mountPath) => mountInKoa(new Koa3(), service, mountPath),
  "Koa 2": (service, mountPath) => mountInKoa(new Koa2(), service, mountPath),
  "node:http": (service, mountPath) => nodeListener(service, { mountPath }),
  Hono: mountInHono,
} satisfies Record<string, (service: Service, mountPath: string) => RequestListener>;

export type HostName = keyof typeof LISTENERS;

/** The hosts of Node's own requests. */
export const HOST_NAMES = (Object.keys(LISTENERS) as HostName[]).filter((name) => name !== "Hono");

export async function startHost(name: HostName, service: Service, mountPath = "/img"): Promise<Host> {
  return serveHost(LISTENERS[name](service, mountPath), mountPath);
}

function mountInExpress(
  app: ReturnType<typeof express5>,
  service: Service,
  mountPath: string,
): RequestListener {
  app.use(mountPath === "" ? "/" : mountPath, express(service));
  app.get("/host", (_req, res) => {
    res.send("the host's own");
  });
  return app;
}

function mountInKoa(app: Koa3 | Koa2, service: Service, mountPath: string): RequestListener {
  app.use(koa(service, { prefix: mountPath }));
  app.use((ctx: { path: string; body: unknown }) => {
    if (ctx.path === "/host") ctx.body = "the host's own";
  });
  return app.callback();
}

function mountInHono(service: Service, prefix: string): RequestListener {
  const handler = toFetchHandler(service, {
    prefix,
    clientAddress: (_request, { incoming }: HttpBindings) => incoming.socket.remoteAddress,
    context: (_request, { incoming }) => incoming,
  });
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.all(`${prefix}/*`, (context) => handler(context.req.raw, context.env));
  // Otherwise it replaces Request and Response for all files of this process.
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}
