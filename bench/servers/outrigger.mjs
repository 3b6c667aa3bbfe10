import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as mountInExpress } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa as mountInKoa } from "@outrigger/koa";
import { front } from "@outrigger/node";
import { createPages } from "@outrigger/web";
import express from "express";
import Koa from "koa";
import { required } from "./required.mjs";

/** @import { Mounted, ServerOptions } from "./required.mjs" */

/** @param {ServerOptions} options */
async function createService(options) {
  const { maxUploadBytes, waits = false, records } = options;
  const files = createFsBlobStore({ directory: required(options, "directory") });
  return createImages({
    storage:
      records === undefined
        ? files
        : { records: await openRecords(records), originals: files, renditions: files },
    ...(records === undefined ? {} : { secret: "of the benchmark, at least 32 bytes long" }),
    renderer: createRenderer(),
    pages: createPages(),
    // One very busy client.
    ...{ rateLimits: false, renderBudget: false },
    ...(waits ? { asyncAfterMs: false } : {}),
    ...(maxUploadBytes === undefined ? {} : { maxUploadBytes }),
  });
}

/** @param {NonNullable<ServerOptions["records"]>} options */
async function openRecords({ redis, postgres = "" }) {
  if (redis !== undefined) return (await import("@outrigger/redis")).createRedisBlobStore({ url: redis });
  return (await import("@outrigger/sql")).createSqlBlobStore({ url: postgres });
}

/** @param {ServerOptions} options */
async function mountedInExpress(options) {
  const images = await createService(options);
  const app = express();
  app.use("/img", mountInExpress(images));
  return { images, app, close: () => images.close() };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function inExpress(options) {
  const { app, close } = await mountedInExpress(options);
  return { listener: app, close };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function inFront(options) {
  const { images, app, close } = await mountedInExpress(options);
  return { listener: front(images, app, { at: "/img" }), close };
}

/** @param {ServerOptions} options @returns {Promise<Mounted>} */
export async function inKoa(options) {
  const images = await createService(options);
  const app = new Koa();
  app.use(mountInKoa(images, { prefix: "/img" }));
  return { listener: app.callback(), close: () => images.close() };
}
