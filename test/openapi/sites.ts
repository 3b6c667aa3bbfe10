import {
  type ApiDocument,
  createApiDescription,
  createImages,
  createMemoryBlobStore,
  type Images,
  type ImagesOptions,
} from "@outrigger/core";
import type { Renderer } from "@outrigger/core/images";
import { express as mount } from "@outrigger/express";
import { createHeaderRenderer } from "@outrigger/testing";
import { createPages } from "@outrigger/web";
import expressApp from "express";
import { createTestLookup, type TestLookup, type TestLookupOptions } from "../lookup/lookup-site.ts";
import { documentOf } from "../support/described-replies.ts";
import { serveHost } from "../support/listen.ts";
import { createSchemas, type Schemas } from "./schemas.ts";
import { createSender, type Sender } from "./sender.ts";

/** Images and lookup at one base, with one document. */
export interface ApiSite extends Sender {
  base: string;
  document: ApiDocument;
  schemas: Schemas;
  images: Images;
  made: TestLookup;
  /** An upload ticket, which no call uses. */
  ticket: string;
  /** The same images without limits and conditions, to prepare the subjects of requests. */
  maker: Sender & { images: Images };
  /** Closes the services, and leaves the host app running. */
  shutDown(): Promise<void>;
  stop(): Promise<void>;
}

export interface ApiSiteOptions {
  images?: Partial<ImagesOptions>;
  lookup?: TestLookupOptions;
  /** Of all its services. @default one without processes, whose renditions are pictures of 1 × 1 pixels */
  renderer?: Renderer;
  tls?: "required" | "always" | "off";
  /** Wraps the store that the site uses. */
  storeOf?: (store: ReturnType<typeof createMemoryBlobStore>) => ImagesOptions["storage"];
}

const SECRET = "a secret of this test, of 32 bytes";
/** Limits that are never reached; their answers are still described. */
const MANY = 10 ** 9;
const MANY_OF_ALL = { creates: MANY, reads: MANY, edits: MANY, pinFailures: MANY };

export async function startApi(options: ApiSiteOptions = {}): Promise<ApiSite> {
  const { tls = "required", storeOf = (store) => store } = options;
  const store = createMemoryBlobStore();
  const shared = {
    ...({ secret: SECRET, pages: createPages(), asyncAfterMs: false, sweepEveryMs: false } as const),
    onError() {},
  };
  const images = createImages({
    ...shared,
    storage: storeOf(store),
    renderer: options.renderer ?? createHeaderRenderer(),
    rateLimits: MANY_OF_ALL,
    presets: { thumb: { resize: "3x3" } },
    tls,
    ...options.images,
  });
  const making = createImages({
    ...shared,
    storage: store,
    renderer: options.renderer ?? createHeaderRenderer(),
    rateLimits: false,
    tls: "off",
    processUploads: false,
  });
  const made = await createTestLookup({
    requestsPerSecond: MANY,
    plans: { free: { searches: false, verifications: false } },
    tls,
    ...options.lookup,
  });
  made.key = await made.lookup.createKey("me");
  const description = createApiDescription([images, made.lookup], { tls });
  const app = expressApp();
  app.use("/api-site", mount(description), mount(images), mount(made.lookup));
  app.use("/maker", mount(making));
  const host = await serveHost(app);
  const { origin } = host;
  const base = `${origin}/api-site`;
  const { url } = await making.ticket({ expiresIn: "12h" });
  const sender = createSender(base);
  const maker = createSender(`${origin}/maker`);
  const document = await documentOf(description);
  async function shutDown(): Promise<void> {
    await images.close({ timeoutMs: 0 });
    await made.lookup.close({ timeoutMs: 0 });
  }
  return {
    ...sender,
    ...{ base, document, images, made, shutDown, ticket: url.slice(url.indexOf("=") + 1) },
    schemas: createSchemas(document),
    maker: { ...maker, images: making },
    async stop() {
      sender.close();
      maker.close();
      await host.close();
      await shutDown();
      await making.close({ timeoutMs: 0 });
    },
  };
}
