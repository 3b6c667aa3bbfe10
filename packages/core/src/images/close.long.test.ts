import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createFakeRenderer } from "@outrigger/testing";
import { describe, expect, test } from "vitest";
import { createCall } from "../../test/calls.ts";
import { created, type ImageSite, type SiteOptions, storedRecord } from "../../test/image-site.ts";
import { createLifeSite, DAY } from "../../test/life-site.ts";
import { holdUp, tapStore } from "../../test/tapped-store.ts";
import type { BlobStore } from "../contracts/blob-store.ts";
import { createMemoryBlobStore } from "../stores/memory/memory-blob-store.ts";

/** Whether a promise has settled after all pending callbacks have run. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = () => {
    settled = true;
  };
  promise.then(note, note);
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  return settled;
}

/** The bytes of a large image, which its store returns as a stream of two chunks. */
const BIG = Buffer.alloc(3 * 1024 * 1024, 1);

async function siteWithBigImage(options: SiteOptions = {}): Promise<{ site: ImageSite; path: string }> {
  const kept = createMemoryBlobStore();
  const store: BlobStore = {
    ...kept,
    async get(key, getOptions) {
      const blob = await kept.get(key, getOptions);
      if (blob === null || !key.endsWith("/original")) return blob;
      return { ...blob, body: Readable.from([BIG.subarray(0, 1000), BIG.subarray(1000)]) };
    },
  };
  const site = createLifeSite({ store, ...options });
  const { id } = created(await site.create());
  await kept.put(`${id}/original`, BIG);
  const record = { ...(await storedRecord(kept, id)), size: BIG.length };
  await kept.put(`${id}/record`, Buffer.from(JSON.stringify(record)));
  return { site, path: `/api/images/${id}.png` };
}

test("close() lets an upload under way finish and answers new requests with 503 and Retry-After", async () => {
  const renderer = createFakeRenderer();
  const site = createLifeSite({ renderer });
  const upload = site.create();
  const admitting = await renderer.next();
  const closed = site.images.close();
  for (const [method, path] of [
    ["POST", "/api/images.json"],
    ["GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.png"],
    ["DELETE", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.json"],
  ] as const) {
    const answer = await site.send(method, path);
    expect([answer.status, answer.headers["Retry-After"], answer.headers.Connection]).toEqual([
      503,
      "2",
      "close",
    ]);
    expect(answer.json.detail).toBe("The service is shutting down. Try again later.");
  }
  expect(await site.images.handle(createCall("GET", "/somewhere/else"))).toBeUndefined();
  expect(await isSettled(closed)).toBe(false);
  admitting.accept();
  const { id } = created(await upload);
  await closed;
  expect(await storedRecord(site.store, id)).toMatchObject({ processing: null });
});

test("close() waits until a reply under way is sent completely", async () => {
  const { site, path } = await siteWithBigImage();
  const reply = await site.images.handle(createCall("GET", path));
  const body = reply?.body;
  if (!(body instanceof Readable)) throw new Error("Not a stream");
  const closed = site.images.close();
  expect(await isSettled(closed)).toBe(false);
  expect((await buffer(body)).equals(BIG)).toBe(true);
  await closed;
});

test.each(["end", "error"])(
  "close() does not wait for a reply whose client has disconnected (%s)",
  async (how) => {
    const { site, path } = await siteWithBigImage();
    const reply = await site.images.handle(createCall("GET", path));
    const body = reply?.body;
    if (!(body instanceof Readable)) throw new Error("Not a stream");
    const closed = site.images.close();
    body.on("error", () => {}).destroy(how === "error" ? new Error("gone") : undefined);
    await closed;
  },
);

describe("close() while work never ends", () => {
  test("close() waits for a stalled upload for at most timeoutMs", async () => {
    const site = createLifeSite();
    const call = { ...createCall("POST", "/api/images.json"), upload: () => new Promise<never>(() => {}) };
    void site.images.handle(call);
    const began = performance.now();
    await site.images.close({ timeoutMs: 50 });
    expect(performance.now() - began).toBeGreaterThan(45);
  });

  test("close() waits for a hanging store for at most five seconds", async () => {
    const store = tapStore(createMemoryBlobStore(), ({ method }) =>
      method === "list" ? new Promise<never>(() => {}) : undefined,
    );
    const site = createLifeSite({ store });
    void site.images.sweep();
    const began = performance.now();
    await site.images.close({ timeoutMs: 50 });
    expect(performance.now() - began).toBeGreaterThan(4500);
  });

  test("close() waits for an unread reply for at most timeoutMs", async () => {
    const { site, path } = await siteWithBigImage();
    const reply = await site.images.handle(createCall("GET", path));
    await site.images.close({ timeoutMs: 50 });
    expect(reply?.status).toBe(200);
    if (reply?.body instanceof Readable) reply.body.destroy();
  });
});

test("a second close() waits for the first and closes nothing twice", async () => {
  const renderer = createFakeRenderer();
  let ends = 0;
  const close = renderer.close;
  renderer.close = () => {
    ends++;
    return close();
  };
  const site = createLifeSite({ renderer });
  const upload = site.create();
  const admitting = await renderer.next();
  const first = site.images.close();
  const second = site.images.close({ timeoutMs: 0 });
  expect(await isSettled(second)).toBe(false);
  admitting.accept();
  await upload;
  await Promise.all([first, second]);
  await site.images.close();
  expect(ends).toBe(1);
});

test("close() accepts a fractional timeoutMs and rejects one that is negative or not finite", async () => {
  const site = createLifeSite();
  for (const timeoutMs of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(site.images.close({ timeoutMs })).rejects.toThrow(
      `close: timeoutMs must be a number of milliseconds from 0 to 2147483647, not ${timeoutMs}`,
    );
  }
  await site.images.close({ timeoutMs: 0.5 });
});

test("close() stops a sweep after its current images, and the next sweep does the rest", async () => {
  const kept = createMemoryBlobStore();
  const held = holdUp(({ method, key }) => method === "delete" && key.endsWith("/original"));
  const site = createLifeSite({ store: tapStore(kept, held.tap) });
  for (let count = 0; count < 50; count++) await site.create();
  site.clock.now += DAY;
  const swept = site.images.sweep();
  await held.reached;
  const closed = site.images.close();
  held.letGo();
  const report = await swept;
  await closed;
  expect(report.failed).toBe(0);
  const next = createLifeSite({ store: kept, clock: site.clock });
  const rest = await next.images.sweep();
  expect(report.emptied).toBeLessThan(50);
  expect(report.emptied + rest.emptied).toBe(50);
});

test("close() does not wait for a request that failed before its reply", async () => {
  const site = createLifeSite({ errors: "host" });
  const call = {
    ...createCall("POST", "/api/images.json"),
    upload: () => Promise.reject(new Error("a bug")),
  };
  await expect(site.images.handle(call)).rejects.toThrow("a bug");
  await site.images.close();
});
