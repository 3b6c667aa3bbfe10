import assert from "node:assert/strict";
import { afterEach, vi } from "vitest";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import type { Reply } from "../src/contracts/call.ts";
import { createImages, type Images } from "../src/images/images.ts";
import type { ImagesOptions } from "../src/images/images-options.ts";
import type { ImageRecord } from "../src/images/record/image-record.ts";
import { createMemoryBlobStore } from "../src/stores/memory/memory-blob-store.ts";
import { readAll } from "../src/stores/read-all.ts";
import { type CallOptions, createCall } from "./calls.ts";
import { createFakeRenderer, type FakeRenderer } from "./fake-renderer.ts";

/** The time as all services of a test see it, in Unix milliseconds. */
export interface Clock {
  now: number;
}

/** A reply whose body has been read. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  text: string;
  /** Of a JSON body; empty for any other. */
  json: Record<string, unknown>;
}

/** The image service called directly, as one process among those that share its store. */
export interface ImageSite {
  images: Images;
  store: BlobStore;
  renderer: FakeRenderer;
  clock: Clock;
  /** What `onError` was told. */
  errors: unknown[];
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Uploads a picture. */
  create(options?: CallOptions): Promise<Answer>;
  /** Another process on the same store, with the same clock. */
  another(options?: SiteOptions): ImageSite;
  /** The process is no more: nobody ends it in good order. */
  kill(): void;
}

export type SiteOptions = Partial<Omit<ImagesOptions, "storage" | "renderer">> & {
  store?: BlobStore;
  renderer?: FakeRenderer;
  clock?: Clock;
};

const NOON = Date.parse("2026-03-01T12:00:00.000Z");
const open = new Set<Images>();

afterEach(async () => {
  for (const images of open) await images.close();
  open.clear();
});

export function createSite(siteOptions: SiteOptions = {}): ImageSite {
  const {
    store = createMemoryBlobStore(),
    renderer = createFakeRenderer(),
    clock = { now: NOON },
    ...options
  } = siteOptions;
  const errors: unknown[] = [];
  const images = createImages({
    // Closed by nobody: the other processes of a test live on.
    storage: { ...store, close: async () => {} },
    renderer,
    secret: "0123456789abcdef0123456789abcdef",
    rateLimits: false,
    renderBudget: false,
    now: () => clock.now,
    onError: (error) => errors.push(error),
    ...options,
  });
  open.add(images);
  const send: ImageSite["send"] = async (method, path, callOptions) => {
    const reply = await images.handle(createCall(method, path, callOptions));
    assert.ok(reply, `${method} ${path} is not ours`);
    return answerOf(reply);
  };
  return {
    ...{ images, store, renderer, clock, errors, send },
    create: (callOptions) => send("POST", "/api/images.json", callOptions),
    another: (more = {}) => createSite({ store, clock, ...options, ...more }),
    kill: () => open.delete(images),
  };
}

async function answerOf({ status, headers, body }: Reply): Promise<Answer> {
  const bytes =
    body === undefined || typeof body === "string" || body instanceof Uint8Array
      ? Buffer.from(body ?? "")
      : await readAll(body);
  const text = bytes.toString("utf8");
  const isJson = /json/.test(String(headers["Content-Type"]));
  return { status, headers, text, json: isJson && text !== "" ? JSON.parse(text) : {} };
}

/** The record as it is stored; `null` where there is none. */
export async function storedRecord(store: BlobStore, id: string): Promise<ImageRecord | null> {
  const blob = await store.get(`${id}/record`);
  return blob === null ? null : JSON.parse((await readAll(blob.body)).toString("utf8"));
}

/** Every key of a store, in order, without its identity, the ledger of renditions and the reminders to look at an image again. */
export async function keysOf(store: BlobStore): Promise<string[]> {
  const { keys } = await store.list("");
  return keys.filter((key) => !/^(?:identity$|(?:due-(?:images|clock)|rendition-usage)\/)/.test(key)).sort();
}

export async function bytesAt(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.get(key);
  return blob && readAll(blob.body);
}

/** ID and PIN of what a create answered. */
export function created(answer: Answer): { id: string; pin: string } {
  const { id, pin } = answer.json;
  assert.ok(typeof id === "string" && typeof pin === "string", answer.text);
  return { id, pin };
}

/** Waits until `check` holds. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 10 });
}
