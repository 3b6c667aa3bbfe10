import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as mountInExpress } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa as mountInKoa } from "@outrigger/koa";
import { createPages } from "@outrigger/web";
import express from "express";
import Koa from "koa";
import { required } from "./kinds.mjs";

/** @import { Mounted, ServerOptions } from "./kinds.mjs" */

/** @param {ServerOptions} options */
function createService(options) {
  const { maxUploadBytes, waits = false } = options;
  return createImages({
    storage: createFsBlobStore({ directory: required(options, "directory") }),
    renderer: createRenderer(options.renderer),
    pages: createPages(),
    // One very busy client.
    rateLimits: false,
    ...(waits ? { asyncAfterMs: false } : {}),
    ...(maxUploadBytes === undefined ? {} : { maxUploadBytes }),
  });
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function outriggerInExpress(options) {
  const images = createService(options);
  const app = express();
  app.use("/img", mountInExpress(images));
  return { listener: app, close: () => images.close() };
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function outriggerInKoa(options) {
  const images = createService(options);
  const app = new Koa();
  app.use(mountInKoa(images, { prefix: "/img" }));
  return { listener: app.callback(), close: () => images.close() };
}
