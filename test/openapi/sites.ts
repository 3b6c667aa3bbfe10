import {
  type ApiDocument,
  createApiDescription,
  createImages,
  createMemoryBlobStore,
  type Images,
  type ImagesOptions,
  type Service,
} from "@outrigger/core";
import { createHeaderRenderer } from "@outrigger/testing";
import { createPages } from "@outrigger/web";
import { readAll } from "../../packages/core/src/stores/blob-body.ts";
import { createCall } from "../../packages/core/test/calls.ts";
import { createTestLookup, type TestLookup, type TestLookupOptions } from "../lookup/lookup-site.ts";
import { documentOf } from "../support/described-replies.ts";
import { createSchemas, type Schemas } from "./schemas.ts";
import { flatPng } from "./tiny-files.ts";

/** A request as an adapter passes it on. */
export interface Sent {
  method: string;
  /** Path and query below the mount point. */
  target: string;
  headers: Readonly<Record<string, string>>;
  fields?: Record<string, unknown>;
  /** The file of an upload. @default {@link flatPng} */
  file?: Buffer;
  /** Of the call besides: the origin, whether the connection is secure, or another way to read its body. */
  call?: Partial<Parameters<Service["handle"]>[0]>;
}

export interface Answer {
  status: number;
  /** Names in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
}

/** The subject of a call. */
export interface Subject {
  id: string;
  pin: string;
}

/** Images and lookup at one base, with one document. */
export interface ApiSite {
  base: string;
  document: ApiDocument;
  schemas: Schemas;
  images: Images;
  made: TestLookup;
  /** An upload ticket, which no call uses. */
  ticket: string;
  /** The same images without limits and conditions, to prepare the subjects of requests. */
  making: Images;
  /** 404 without headers for a request outside the services. */
  send(sent: Sent): Promise<Answer>;
  /** An image that can be served, or with `Prefer: respond-async` one that no process works on. */
  create(headers?: Record<string, string>, file?: Buffer): Promise<Subject>;
  stop(): Promise<void>;
}

export interface ApiSiteOptions {
  images?: Partial<ImagesOptions>;
  lookup?: TestLookupOptions;
  /** Wraps the store that the site uses. */
  storeOf?: (store: ReturnType<typeof createMemoryBlobStore>) => ImagesOptions["storage"];
}

const SECRET = "a secret of this test, of 32 bytes";
/** Limits that are never reached; their answers are still described. */
const MANY = 10 ** 9;
const MANY_OF_ALL = { creates: MANY, reads: MANY, edits: MANY, pinFailures: MANY };

export async function startApi(options: ApiSiteOptions = {}): Promise<ApiSite> {
  const { storeOf = (store) => store } = options;
  const store = createMemoryBlobStore();
  const shared = {
    ...({ secret: SECRET, pages: createPages(), asyncAfterMs: false, sweepEveryMs: false } as const),
    renderer: createHeaderRenderer(),
    onError() {},
  };
  const images = createImages({
    ...shared,
    storage: storeOf(store),
    rateLimits: MANY_OF_ALL,
    presets: { thumb: { resize: "3x3" } },
    ...options.images,
  });
  const making = createImages({ ...shared, storage: store, rateLimits: false, processUploads: false });
  const made = await createTestLookup({
    requestsPerSecond: MANY,
    plans: { free: { searches: false, verifications: false } },
    ...options.lookup,
  });
  made.key = await made.lookup.createKey("me");
  const description = createApiDescription([images, made.lookup]);
  const { url } = await making.ticket({ expiresIn: "12h" });
  const document = await documentOf(description);
  return {
    ...{ base: "https://pictures.example", document, images, made, making },
    ticket: url.slice(url.indexOf("=") + 1),
    schemas: createSchemas(document),
    send: (sent) => answerOf([description, images, made.lookup], sent),
    async create(headers = {}, file = flatPng()) {
      const sent = { method: "POST", target: "/api/images.json", headers, file };
      const { status, body } = await answerOf([making], sent);
      if (status !== 201 && status !== 202) throw new Error(`Not created: ${status} ${body}`);
      const { id, pin } = JSON.parse(String(body));
      return { id, pin };
    },
    async stop() {
      for (const service of [images, made.lookup, making]) await service.close({ timeoutMs: 0 });
    },
  };
}

async function answerOf(services: readonly Service[], sent: Sent): Promise<Answer> {
  const [path = "", search = ""] = sent.target.split("?");
  const lower = (headers: object) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const { fields, file = flatPng() } = sent;
  const fileType = file.toString("latin1", 0, 3) === "GIF" ? "image/gif" : "image/png";
  const options = { search, headers: lower(sent.headers), file, fileType };
  const call = {
    ...createCall(sent.method, path, fields === undefined ? options : { ...options, fields }),
    ...sent.call,
  };
  for (const service of services) {
    const reply = await service.handle(call);
    if (reply === undefined) continue;
    const { status, headers, body = "" } = reply;
    const isAtHand = typeof body === "string" || body instanceof Uint8Array;
    return { status, headers: lower(headers), body: isAtHand ? Buffer.from(body) : await readAll(body) };
  }
  return { status: 404, headers: {}, body: Buffer.of() };
}
