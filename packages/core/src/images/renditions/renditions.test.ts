import { expect, test } from "vitest";
import type { Renderer, RenditionSpec } from "../../contracts/renderer.ts";
import { readAll } from "../../stores/blob-body.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import { createMemoryRateLimiter } from "../../stores/memory/memory-rate-limiter.ts";
import { type ImageRecord, keyOf } from "../record/image-record.ts";
import { RenderGate } from "./render-gate.ts";
import { keyFor } from "./rendition-bytes.ts";
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

test.each([0, 5, 200])("%i stored bytes without a header are replaced by a rendition", async (length) => {
  const store = await storage();
  await store.put(keyOf.rendition(ID, "jpg-high-2x2"), Buffer.alloc(length));
  const renditions = service(store, releaseOf("b1").renderer);
  expect(await renditions.find(target(), signal)).toBeNull();
  const made = await read(renditions);
  expect(await read(service(store, releaseOf("b2").renderer))).toEqual(made);
});
