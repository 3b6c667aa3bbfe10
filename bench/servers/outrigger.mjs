import { createFsBlobStore, createImages } from "@outrigger/core";
import { express as mountInExpress } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa as mountInKoa } from "@outrigger/koa";
import { front } from "@outrigger/node";
import { createPages } from "@outrigger/web";
import express from "express";
import Koa from "koa";
import { required } from "./kinds.mjs";

/** @import { ImagesOptions } from "@outrigger/core" */
/** @import { BlobStore } from "@outrigger/core/stores" */
/** @import { Mounted, RecordsOptions, ServerOptions } from "./kinds.mjs" */

/** @param {ServerOptions} options */
async function createService(options) {
  const { maxUploadBytes, waits = false, sendfile = false } = options;
  return createImages({
    ...(await keepingOf(options)),
    renderer: createRenderer(options.renderer),
    pages: createPages(),
    // One very busy client.
    ...{ rateLimits: false, renderBudget: false },
    ...(waits ? { asyncAfterMs: false } : {}),
    ...(sendfile ? { sendfile: { header: "X-Accel-Redirect", prefix: "/files/" } } : {}),
    ...(maxUploadBytes === undefined ? {} : { maxUploadBytes }),
  });
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Pick<ImagesOptions, "storage" | "secret" | "sweepEveryMs" | "readLeaseMs">>}
 */
async function keepingOf({ records, pictures, readLeaseMs, ...options }) {
  const files = () => createFsBlobStore({ directory: required(options, "directory") });
  if (records === undefined) return { storage: files() };
  const bytes = pictures === undefined ? files() : await openRemote(pictures);
  return {
    storage: { records: await openRemote(records), originals: bytes, renditions: bytes },
    readLeaseMs,
    secret: "where records are elsewhere, there is no place to keep one",
    // Only the work of requests is to be counted.
    sweepEveryMs: false,
  };
}

/**
 * @param {RecordsOptions} options
 * @returns {Promise<BlobStore>}
 */
async function openRemote({ redis, postgres, s3 }) {
  if (redis !== undefined) return (await import("@outrigger/redis")).createRedisBlobStore({ url: redis });
  if (postgres !== undefined) return (await import("@outrigger/sql")).createSqlBlobStore({ url: postgres });
  if (s3 !== undefined) return (await import("@outrigger/s3")).createS3BlobStore(s3);
  throw new TypeError("A remote store is in Redis, in PostgreSQL or in S3");
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function outriggerInExpress(options) {
  const images = await createService(options);
  const app = express();
  app.use("/img", mountInExpress(images));
  return { listener: app, close: () => images.close() };
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function outriggerInFront(options) {
  const images = await createService(options);
  const app = express();
  app.use("/img", mountInExpress(images));
  return { listener: front(images, app, { at: "/img" }), close: () => images.close() };
}

/**
 * @param {ServerOptions} options
 * @returns {Promise<Mounted>}
 */
export async function outriggerInKoa(options) {
  const images = await createService(options);
  const app = new Koa();
  app.use(mountInKoa(images, { prefix: "/img" }));
  return { listener: app.callback(), close: () => images.close() };
}
