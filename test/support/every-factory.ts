import { readFile } from "node:fs/promises";
import { Server as HttpServer } from "node:http";
import { fileURLToPath } from "node:url";
import { createImagesClient, createLookupClient } from "@outrigger/client";
import * as core from "@outrigger/core";
import { toFetchHandler } from "@outrigger/fetch";
import { createRenderer } from "@outrigger/imaging";
import { koa } from "@outrigger/koa";
import { createShutdown, front, nodeListener } from "@outrigger/node";
import * as ops from "@outrigger/ops";
import { createPageIndex } from "@outrigger/page-index";
import * as redis from "@outrigger/redis";
import { createS3BlobStore } from "@outrigger/s3";
import * as sql from "@outrigger/sql";
import { createMetrics, createTracing } from "@outrigger/telemetry";
import { createHeaderRenderer } from "@outrigger/testing";
import { createMailLists, createMailProber } from "@outrigger/verifier";
import { createAdminPages, createPages } from "@outrigger/web";
import { createServer } from "outrigger";
import * as client from "prom-client";
import { expect } from "vitest";

type Call = (options: never) => unknown;
export type Given = Readonly<Record<string, unknown>>;

const PAGE = fileURLToPath(new URL("../../docs/options.md", import.meta.url));
export const SECRET = "0123456789abcdef0123456789abcdef";

export const storage = core.createMemoryBlobStore();
export const renderer = createHeaderRenderer();
const database = sql.openDatabase({ url: "file:./never-opened.db" });
const contacts = core.createMemoryContactSource();
const accounts = core.createMemoryAccounts();
const suppressions = core.createMemorySuppressionList();
export const images = core.createImages({ storage, renderer, secret: SECRET });

/** Every function of docs/options.md, with options that it would take. */
export const CALLS: Readonly<Record<string, readonly [Call, Given]>> = {
  createImages: [core.createImages, { storage, renderer, secret: SECRET }],
  createImageAdmin: [core.createImageAdmin, { storage }],
  migrateStorage: [ops.migrateStorage, { from: storage, to: core.createMemoryBlobStore(), source: "a" }],
  backupStorage: [ops.backupStorage, { from: storage, to: core.createMemoryBlobStore(), source: "a" }],
  restoreStorage: [ops.restoreStorage, { from: storage, to: core.createMemoryBlobStore() }],
  verifyStorage: [ops.verifyStorage, { storage }],
  createLookup: [core.createLookup, { contacts, accounts, suppressions, secret: SECRET }],
  createApiDescription: [(options) => core.createApiDescription([images], options), {}],
  createFsBlobStore: [core.createFsBlobStore, { directory: "never-made" }],
  createMemoryBlobStore: [core.createMemoryBlobStore, {}],
  createMemoryContactSource: [core.createMemoryContactSource, {}],
  koa: [(options) => koa(images, options), {}],
  toFetchHandler: [(options) => toFetchHandler(images, options), {}],
  front: [(options) => front(images, () => undefined, options), {}],
  nodeListener: [(options) => nodeListener(images, options), {}],
  createShutdown: [(options) => createShutdown(new HttpServer(), [images], options), {}],
  createRenderer: [createRenderer, {}],
  createAdminPages: [createAdminPages, { images, authorize: () => true }],
  createPages: [createPages, {}],
  createRedisBlobStore: [redis.createRedisBlobStore, { url: "redis://localhost" }],
  createRedisKeyv: [redis.createRedisKeyv, { url: "redis://localhost" }],
  createRedisRateLimiter: [redis.createRedisRateLimiter, { url: "redis://localhost" }],
  createS3BlobStore: [createS3BlobStore, { bucket: "a" }],
  createSqlBlobStore: [sql.createSqlBlobStore, { url: "postgres://localhost/images" }],
  putContacts: [(options) => sql.putContacts(database, [], options), {}],
  openDatabase: [sql.openDatabase, { url: "file:./never-opened.db" }],
  exportContacts: [(options) => sql.exportContacts(database, options), { format: "csv" }],
  importContacts: [(options) => sql.importContacts(database, nothing(), options), { format: "csv" }],
  createPageIndex: [
    (options) => createPageIndex(database, options),
    { contact: "https://example.com/robot", secret: SECRET },
  ],
  createMailLists: [createMailLists, {}],
  createMailProber: [createMailProber, {}],
  createMetrics: [createMetrics, { client }],
  createTracing: [createTracing, {}],
  createImagesClient: [createImagesClient, { baseUrl: "https://example.com" }],
  createLookupClient: [createLookupClient, { baseUrl: "https://example.com" }],
  createServer: [createServer, {}],
};

async function* nothing(): AsyncGenerator<Uint8Array> {}

interface Documented {
  name: string;
  options: string[];
}

/** The page is generated from the types, and tested to be what they say. */
export async function documented(): Promise<Documented[]> {
  const page = await readFile(PAGE, "utf8");
  return page
    .split(/^### /m)
    .slice(1)
    .map((chapter) => {
      const [, set = ""] = chapter.split(/^#### /m);
      const options = [...set.matchAll(/^- \*\*`(\w+)`\*\*/gm)].map(([, option = ""]) => option);
      return { name: /^\w+/.exec(chapter)?.[0] ?? "", options };
    });
}

/** What a call throws, at once or later. */
export async function refusal(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was refused");
}

export async function refusedOptions(name: string, more: Given): Promise<string> {
  const [call, valid] = CALLS[name] ?? [];
  if (call === undefined) throw new Error(`${name} is missing in CALLS`);
  const error = await refusal(() => call({ ...valid, ...more } as never)); // What JavaScript lets pass.
  expect(error, `${name} ${Object.keys(more)}`).toMatchObject({
    name: expect.stringMatching(/^(?:Type|Config)Error$/),
  });
  return (error as Error).message;
}
