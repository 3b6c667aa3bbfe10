import assert from "node:assert/strict";
import { createFakeRenderer, type FakeRenderer } from "@outrigger/testing";
import { vi } from "vitest";
import { afterEachTest } from "../../../test/support/hooks.ts";
import type { BlobStore } from "../src/contracts/blob-store.ts";
import type { ReadyReply, Reply } from "../src/contracts/call.ts";
import { createImages, type Images } from "../src/images/images.ts";
import type { ImagesOptions } from "../src/images/images-options.ts";
import type { ImageRecord } from "../src/images/record/image-record.ts";
import { readAll } from "../src/stores/blob-body.ts";
import { createMemoryBlobStore } from "../src/stores/memory/memory-blob-store.ts";
import { type CallOptions, createCall } from "./calls.ts";

/** The time for all services of a test, in Unix milliseconds. */
export interface Clock {
  now: number;
}

/** A reply whose body has been read. */
export interface Answer {
  status: number;
  headers: Readonly<Record<string, string | string[]>>;
  text: string;
  /** The JSON body; empty for other bodies. */
  json: Record<string, unknown>;
}

/** The image service called directly, as one of several processes on the same store. */
export interface ImageSite {
  images: Images;
  store: BlobStore;
  renderer: FakeRenderer;
  clock: Clock;
  /** The errors that `onError` received. */
  errors: unknown[];
  send(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Uploads an image. */
  create(options?: CallOptions): Promise<Answer>;
  /** Another process on the same store, with the same clock. */
  another(options?: SiteOptions): ImageSite;
  /** Simulates a killed process: it stops without a clean shutdown. */
  kill(): void;
}

export type SiteOptions = Partial<Omit<ImagesOptions, "storage" | "renderer">> & {
  store?: BlobStore;
  renderer?: FakeRenderer;
  clock?: Clock;
};

const NOON = Date.parse("2026-03-01T12:00:00.000Z");
const open = new Set<Images>();

afterEachTest(async () => {
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
    // Not closed, because the other processes of a test still use it.
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
  /** Whether something would see a read twice, so that {@link ImageSite.send} cannot compare both paths. */
  const { authorize, observer, rateLimits } = options;
  const isCounting = authorize !== undefined || observer !== undefined || rateLimits !== undefined;
  const send: ImageSite["send"] = async (method, path, callOptions) => {
    const call = createCall(method, path, callOptions);
    const ready = images.answerNow?.(call);
    if (ready !== undefined && isCounting) return readyAnswerOf(ready);
    const reply = await images.handle(call);
    assert.ok(reply, `${method} ${path} is outside the service`);
    const answer = await answerOf(reply);
    if (ready !== undefined) assert.deepEqual(readyAnswerOf(ready), { ...answer, json: {} });
    return answer;
  };
  return {
    ...{ images, store, renderer, clock, errors, send },
    create: (callOptions) => send("POST", "/api/images.json", callOptions),
    another: (more = {}) => createSite({ store, clock, ...options, ...more }),
    kill: () => open.delete(images),
  };
}

/** A reply with its body read. Fails if there is none. */
export async function answerOf(reply: Reply | undefined): Promise<Answer> {
  assert.ok(reply, "The request is outside the service");
  const { status, headers, body } = reply;
  const bytes =
    body === undefined || typeof body === "string" || body instanceof Uint8Array
      ? Buffer.from(body ?? "")
      : await readAll(body);
  const text = bytes.toString("utf8");
  const isJson = /json/.test(String(headers["Content-Type"]));
  return { status, headers, text, json: isJson && text !== "" ? JSON.parse(text) : {} };
}

/** The reply of `answerNow`, in the form of the reply of `handle`. */
export function readyAnswerOf({ status, headers, body }: ReadyReply): Answer {
  const lines: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) lines[headers[at] ?? ""] = headers[at + 1] ?? "";
  return { status, headers: lines, text: Buffer.from(body ?? "").toString("utf8"), json: {} };
}

/** The stored record; `null` if there is none. */
export async function storedRecord(store: BlobStore, id: string): Promise<ImageRecord | null> {
  const blob = await store.get(`${id}/record`);
  return blob === null ? null : JSON.parse((await readAll(blob.body)).toString("utf8"));
}

/**
 * Every key of a store, sorted, without the store's identity, the ledger and notes of renditions, the due entries of
 * images and the index of copies.
 */
export async function keysOf(store: BlobStore): Promise<string[]> {
  const { keys } = await store.list("");
  return keys
    .filter((key) => !/^(?:identity$|(?:due-(?:images|clock)|copies|rendition-(?:usage|notes))\/)/.test(key))
    .sort();
}

export async function bytesAt(store: BlobStore, key: string): Promise<Buffer | null> {
  const blob = await store.get(key);
  return blob && readAll(blob.body);
}

/** ID and PIN in the reply to an upload. */
export function created(answer: Answer): { id: string; pin: string } {
  const { id, pin } = answer.json;
  assert.ok(typeof id === "string" && typeof pin === "string", answer.text);
  return { id, pin };
}

/** Waits until `check` holds. */
export function eventually(check: () => void | Promise<void>): Promise<void> {
  return vi.waitFor(check, { timeout: 60_000, interval: 10 });
}
