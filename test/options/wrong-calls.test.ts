import * as core from "@outrigger/core";
import { express } from "@outrigger/express";
import { createRenderer } from "@outrigger/imaging";
import { koa } from "@outrigger/koa";
import { nodeListener } from "@outrigger/node";
import * as sql from "@outrigger/sql";
import { combineObservers, createMetrics } from "@outrigger/telemetry";
import { createPages } from "@outrigger/web";
import { describe, expect, test } from "vitest";
import { type Given, images, refusal, refusedOptions, storage } from "../support/every-factory.ts";

const FORM = "an http(s) URL without credentials, query or fragment, such as https://example.com/img";

/** Mistakes of host apps, and the message that each gets. */
describe("the message of a wrong call names the option and the expected value", () => {
  const ofImages: [Given, string][] = [
    [{ authorise: () => false }, "authorise is no option of createImages: did you mean authorize?"],
    [{ maxUploadSize: 1 }, "maxUploadSize is no option of createImages: did you mean maxUploadBytes?"],
    [
      { rateLimits: { uploads: 5 } },
      "rateLimits.uploads is no option of createImages: did you mean rateLimits.creates?",
    ],
    [
      { rateLimits: true },
      "createImages: rateLimits must be false or an object of options (creates, reads, edits, pinFailures, reports), not true",
    ],
    [
      { rateLimits: { creates: { perMinute: 60, burst: 0 } } },
      "createImages: rateLimits.creates.burst must be a whole number from 1, not 0",
    ],
    [
      { rateLimits: { creates: { perMinute: 60 } } },
      "createImages: rateLimits.creates.burst is required: a whole number from 1",
    ],
    [
      { rateLimits: { reads: 0 } },
      "createImages: rateLimits.reads must be false or a whole number from 1, or { perMinute, burst } of such numbers, not 0",
    ],
    [
      { ownerLimits: { images: -1 } },
      "createImages: ownerLimits.images must be a whole number from 0, not -1",
    ],
    [
      { cors: { origins: "https://a.example" } },
      'createImages: cors.origins must be a list of origins, or "*", not "https://a.example"',
    ],
    [{ cors: { origin: "*" } }, "cors.origin is no option of createImages: did you mean cors.origins?"],
    [{ authorize: "x" }, 'createImages: authorize must be a function, not "x"'],
    [{ onStored: 5 }, "createImages: onStored must be a function, not 5"],
    [
      { logger: {} },
      "createImages: logger must be a logger with the methods info, warn and error, not an object without info()",
    ],
    [
      { pages: "x" },
      'createImages: pages must be pages, such as createPages() of @outrigger/web returns, not "x"',
    ],
    [
      { pages: createPages },
      "createImages: pages must be pages, such as createPages() of @outrigger/web returns, not the function createPages: call it, pages: createPages()",
    ],
    [
      { renderer: createRenderer },
      "createImages: renderer must be a renderer, such as createRenderer() of @outrigger/imaging returns, not the function createRenderer: call it, renderer: createRenderer()",
    ],
    [
      { renderer: undefined },
      "createImages: renderer is required: a renderer, such as createRenderer() of @outrigger/imaging returns",
    ],
    [
      { storage: undefined },
      "createImages: storage is required: a blob store, such as createFsBlobStore({ directory }) returns, or { records, originals, renditions } of such stores",
    ],
    [
      { storage: "./data" },
      'createImages: storage must be a blob store, such as createFsBlobStore({ directory }) returns, or { records, originals, renditions } of such stores, not "./data"',
    ],
    [
      { storage: Promise.resolve(storage) },
      "createImages: storage must be a blob store, such as createFsBlobStore({ directory }) returns, or { records, originals, renditions } of such stores, not a promise: await it",
    ],
    [
      { storage: { records: storage, originals: storage } },
      "createImages: storage.renditions is required: a blob store, such as createFsBlobStore({ directory }) returns",
    ],
    [
      { allowedHosts: "a" },
      'createImages: allowedHosts must be a list of at least one host, such as example.com, not "a"',
    ],
    [
      { allowedHosts: [] },
      "createImages: allowedHosts must be a list of at least one host, such as example.com, not an empty list",
    ],
    [
      { publicUrl: "https://me:hush@example.com/img" },
      `createImages: publicUrl must be ${FORM}, not a text of 31 characters`,
    ],
    [{ publicUrl: "/img" }, `createImages: publicUrl must be ${FORM}, not "/img"`],
    [
      { secret: "too short" },
      "createImages: secret must be at least 32 bytes as text or Uint8Array, or a list of such secrets, not 9 bytes",
    ],
    [
      { secret: [] },
      "createImages: secret must be at least 32 bytes as text or Uint8Array, or a list of such secrets, not an empty list",
    ],
  ];
  test("for createImages", async () => {
    for (const [wrong, message] of ofImages)
      expect(await refusedOptions("createImages", wrong)).toBe(message);
  });
  const withoutOptions: [string, () => unknown, string][] = [
    [
      "createImages()",
      () => core.createImages(undefined as never),
      "createImages takes an object of options with storage, renderer, not undefined",
    ],
    [
      "createFsBlobStore()",
      () => core.createFsBlobStore(undefined as never),
      "createFsBlobStore takes an object of options with directory, not undefined",
    ],
    [
      "openDatabase(text)",
      () => sql.openDatabase("postgres://a:hush@b/c" as never),
      "openDatabase takes an object of options with url, not a string",
    ],
    [
      "express()",
      () => express(undefined as never),
      "express: service must be a service with a method handle, such as createImages() and createLookup() return, not undefined",
    ],
    [
      "express({})",
      () => express({} as never),
      "express: service must be a service with a method handle, such as createImages() and createLookup() return, not an object without handle()",
    ],
    [
      "koa({})",
      () => koa({} as never),
      "koa: service must be a service with a method handle, such as createImages() and createLookup() return, not an object without handle()",
    ],
    [
      "nodeListener(uncalled)",
      () => nodeListener(core.createImages as never),
      "nodeListener: service must be a service with a method handle, such as createImages() and createLookup() return, not the function createImages: call it, service: createImages()",
    ],
    [
      "createSqlAccounts(options)",
      () => sql.createSqlAccounts({ url: "file:a" } as never),
      "database must be what openDatabase() returned, not an object",
    ],
    [
      "combineObservers(uncalled)",
      () => combineObservers(createMetrics as never),
      "combineObservers: observers[0] must be an observer, such as createMetrics() of @outrigger/telemetry returns, not the function createMetrics: call it, observers[0]: createMetrics()",
    ],
    [
      "createApiDescription(one)",
      () => core.createApiDescription(images as never),
      "createApiDescription: services must be a list of services, not an object",
    ],
    [
      "close({ timeout })",
      () => images.close({ timeout: 5 } as never),
      "timeout is no option of close: did you mean timeoutMs?",
    ],
    [
      "withhold without reason",
      () => images.withhold("A".repeat(22), {} as never),
      "withhold: reason is required: a text of 1 to 1000 characters",
    ],
  ];
  test("for arguments that are no options at all", async () => {
    for (const [name, call, message] of withoutOptions)
      expect(await refusal(call), name).toEqual(new TypeError(message));
  });
});
