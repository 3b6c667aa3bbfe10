import { expect, test } from "vitest";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { readAll } from "../../stores/blob-body.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { RenderGate } from "./render-gate.ts";
import { BytesReplaced, keyFor, STAMP_BYTES } from "./rendition-bytes.ts";
import { Renditions, type RenditionsOptions } from "./renditions.ts";

const ID = "AAAAAAAAAAAAAAAAAAAAAA";
const record = {
  id: ID,
  type: "image/png",
  size: 8,
  width: 4,
  height: 4,
  pages: 1,
  createdAt: 1,
} as ImageRecord;
const spec: RenditionSpec = { format: "jpg", quality: "high", width: 2, height: 2 };
const { signal } = new AbortController();
const reader = { client: "10.0.0.1", signal };

/** A renderer of one release. Its output names the release and the source. */
function releaseOf(build: string, more: Partial<Renderer> = {}) {
  const renders: string[] = [];
  const renderer: Renderer = {
    build,
    version: () => 1,
    measure: () => null,
    admit: () => Promise.reject(new Error("This renderer admits no upload")),
    async render(source, _type, { format }) {
      renders.push(format);
      const from = "bytes" in source ? Buffer.from(source.bytes).toString() : source.path;
      return { bytes: Buffer.from(`${format} by ${build} of ${from}`) };
    },
    close: async () => undefined,
    ...more,
  };
  return { renderer, renders };
}

async function storage() {
  const store = createMemoryBlobStore();
  await store.put(keyOf.original(ID), Buffer.from("original"));
  return store;
}

type Store = Awaited<ReturnType<typeof storage>>;

function service(store: Store, renderer: Renderer, options: Partial<RenditionsOptions> = {}) {
  const onError = (error: unknown) => {
    throw error;
  };
  return new Renditions({
    leases: async () => null,
    ...{ records: store, originals: store, renditions: store },
    loadLiving: async () => record,
    renderer,
    renders: new RenderGate(renderer, { limiter: createMemoryRateLimiter(), cpuSeconds: null, onError }),
    now: Date.now,
    memoryBytes: 0,
    onError,
    served: () => undefined,
    ...options,
  });
}

function target(wanted = spec) {
  return { record, spec: wanted, key: keyFor(ID, wanted) };
}

/** Reads a rendition and waits until it is stored. Returns its text and tag. */
async function read(renditions: ReturnType<typeof service>, wanted = spec) {
  const found = await renditions.get(target(wanted), reader);
  if (found === null) throw new Error("The rendition is missing");
  const text = (await readAll(await found.open())).toString();
  await renditions.close();
  return { text, etag: found.etag };
}

test("a rendition stored by another build is served with the tag of that build and not rendered again", async () => {
  const store = await storage();
  const first = await read(service(store, releaseOf("b1").renderer));
  const next = releaseOf("b2");
  expect(await read(service(store, next.renderer))).toEqual(first);
  expect([first, next.renders]).toEqual([
    { text: "jpg by b1 of original", etag: `"${ID}.jpg-high-2x2.b1"` },
    [],
  ]);
});

test("the tag of a rendition that is not stored names this build", async () => {
  const store = await storage();
  const old = await read(service(store, releaseOf("b1").renderer));
  const renditions = service(store, releaseOf("b2").renderer);
  expect(await renditions.etag(target(), signal)).toBe(old.etag);
  await store.delete(keyOf.rendition(ID, "jpg-high-2x2"));
  expect(await renditions.etag(target(), signal)).toBe(`"${ID}.jpg-high-2x2.b2"`);
  expect((await read(renditions)).etag).toBe(`"${ID}.jpg-high-2x2.b2"`);
});

test("etag caches the bytes of a stored rendition in memory", async () => {
  const store = await storage();
  const { etag } = await read(service(store, releaseOf("b1").renderer));
  const renditions = service(store, releaseOf("b2").renderer, { memoryBytes: 1e6 });
  expect(renditions.peek(target())).toBeUndefined();
  expect(await renditions.etag(target(), signal)).toBe(etag);
  expect(renditions.peek(target())).toEqual({ bytes: Buffer.from("jpg by b1 of original"), etag });
});

test("a stored rendition of a lower version is served once more, then replaced in the background", async () => {
  const store = await storage();
  await read(service(store, releaseOf("b1").renderer));
  const { renderer, renders } = releaseOf("b2", { version: () => 2 });
  const renditions = service(store, renderer);
  const old = await renditions.get(target(), reader);
  expect(old?.etag).toBe(`"${ID}.jpg-high-2x2.b1"`);
  await expect.poll(() => renditions.etag(target(), signal)).toBe(`"${ID}.jpg-high-2x2.b2"`);
  expect((await read(renditions)).text).toBe("jpg by b2 of original");
  expect([renders, (await store.list(`${ID}/renditions/`)).keys.length]).toEqual([["jpg"], 1]);
});

test("an older release serves a rendition of a higher version and does not replace it", async () => {
  const store = await storage();
  await read(service(store, releaseOf("b2", { version: () => 2 }).renderer));
  const older = releaseOf("b1");
  expect((await read(service(store, older.renderer))).etag).toBe(`"${ID}.jpg-high-2x2.b2"`);
  expect(older.renders).toEqual([]);
});

test.each([0, 5, 200])("%i stored bytes without a stamp are replaced by a rendition", async (length) => {
  const store = await storage();
  await store.put(keyOf.rendition(ID, "jpg-high-2x2"), Buffer.alloc(length));
  const renditions = service(store, releaseOf("b1").renderer);
  expect(await renditions.find(target(), signal)).toBeNull();
  const made = await read(renditions);
  expect(await read(service(store, releaseOf("b2").renderer))).toEqual(made);
});

test("find renders nothing", async () => {
  const { renderer, renders } = releaseOf("b1");
  expect(await service(await storage(), renderer).find(target(), signal)).toBeNull();
  expect(renders).toEqual([]);
});

const LARGE = Buffer.alloc(3 * 1024 * 1024, "large");

test("a large rendition is read from the store in whole and in part, without its stamp", async () => {
  const store = await storage();
  const { renderer } = releaseOf("b1", { render: async () => ({ bytes: LARGE }) });
  expect((await read(service(store, renderer))).text).toBe(LARGE.toString());
  const stored = await service(store, renderer).find(target(), signal);
  expect(stored?.size).toBe(LARGE.length);
  expect(LARGE.equals(await readAll((await stored?.open()) ?? Buffer.of()))).toBe(true);
  const part = await readAll((await stored?.open({ start: 5, end: 9 })) ?? Buffer.of());
  expect(part.toString()).toBe("large");
});

test("open of a large rendition that was replaced or removed since find rejects with BytesReplaced", async () => {
  const store = await storage();
  const { renderer } = releaseOf("b1", { render: async () => ({ bytes: LARGE }) });
  await read(service(store, renderer));
  const key = keyOf.rendition(ID, "jpg-high-2x2");
  const found = await service(store, renderer).find(target(), signal);
  await store.put(key, Buffer.concat([LARGE, Buffer.alloc(STAMP_BYTES)]));
  await expect(found?.open()).rejects.toBeInstanceOf(BytesReplaced);
  await store.delete(key);
  await expect(found?.open({ start: 0, end: 0 })).rejects.toBeInstanceOf(BytesReplaced);
});
