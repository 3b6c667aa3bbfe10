import { buffer } from "node:stream/consumers";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { eventually } from "../../../test/image-site.ts";
import { createLibrarySite, namingRenderer } from "../../../test/library-site.ts";
import { DAY, STORES } from "../../../test/life-site.ts";
import { signal as event } from "../../../test/tapped-store.ts";
import type { OpenOptions } from "./open-image.ts";

const { length } = PNG;

describe.each(Object.entries(STORES))("open() on a store in %s", (_where, createStore) => {
  test.each<[string, OpenOptions, string, string]>([
    ["the original", {}, "png", ""],
    ["the original by its format", { format: "png" }, "png", ""],
    ["another format", { format: "webp" }, "webp", ""],
    ["an alias of a format", { format: "jpeg" }, "jpeg", ""],
    ["a smaller JPEG", { format: "jpg", resize: "20x", convert: "low" }, "jpg", "resize=20x&convert=low"],
    ["a page", { format: "png", page: 1 }, "png", "page=1"],
    ["a preset", { format: "gif", preset: "thumb" }, "gif", "preset=thumb"],
  ])(
    "open() returns the same bytes, type, tag and date as HTTP for %s",
    async (_what, options, suffix, search) => {
      const presets = { thumb: { resize: "16x16" } };
      const site = createLibrarySite({ store: createStore(), presets });
      const { id } = await site.images.add(PNG);
      const opened = await site.images.open(id, options);
      const reply = await site.send("GET", `/api/images/${id}.${suffix}`, { search });
      expect(reply.status).toBe(200);
      expect({
        body: (await buffer(opened.body)).toString("utf8"),
        size: String(opened.size),
        type: opened.type,
        etag: opened.etag,
        lastModified: opened.lastModified.toUTCString(),
      }).toEqual({
        body: reply.text,
        size: reply.headers["Content-Length"],
        type: reply.headers["Content-Type"],
        etag: reply.headers.ETag,
        lastModified: reply.headers["Last-Modified"],
      });
    },
  );

  test.each([
    [{ start: 0, end: 0 }, PNG.subarray(0, 1)],
    [{ start: 8, end: 11 }, Buffer.from("what")],
    [{ start: length - 1, end: 10 * length }, PNG.subarray(length - 1)],
  ])("open() returns the range %j, and the size of the whole picture", async (range, expected) => {
    const site = createLibrarySite({ store: createStore() });
    const { id } = await site.images.add(PNG);
    for (const memory of ["cold", "hot"]) {
      const { body, size } = await site.images.open(id, { range });
      expect([memory, size, await buffer(body)]).toEqual([memory, length, expected]);
    }
  });
});

test("open() returns a copy: writing to the bytes does not change them for other readers", async () => {
  const { images } = createLibrarySite();
  const { id } = await images.add(PNG);
  for (let round = 0; round < 2; round++) {
    for await (const chunk of (await images.open(id)).body) chunk.fill(0);
  }
  expect(await buffer((await images.open(id)).body)).toEqual(PNG);
});

test.each<[string, OpenOptions, string]>([
  ["a range beyond the bytes", { range: { start: length, end: length } }, "bad_request"],
  ["a resized original", { resize: "20x" }, "bad_request"],
  ["a malformed size", { format: "jpg", resize: "big" }, "bad_request"],
  ["a page that does not exist", { format: "png", page: 2 }, "bad_request"],
  ["a preset that does not exist", { format: "png", preset: "thumb" }, "bad_request"],
])("open() rejects %s with bad_request", async (_what, options, code) => {
  const { images } = createLibrarySite();
  const { id } = await images.add(PNG);
  await expect(images.open(id, options)).rejects.toMatchObject({ code });
});

test("open() rejects an unknown format with unsupported_media, and one without a renderer with not_implemented", async () => {
  const { images } = createLibrarySite({
    renderer: Object.assign(namingRenderer(), { canRender: () => false }),
  });
  const { id } = await images.add(PNG);
  // A format that JavaScript code may pass.
  const bmp = { format: "bmp" } as unknown as OpenOptions;
  await expect(images.open(id, bmp)).rejects.toMatchObject({ code: "unsupported_media" });
  await expect(images.open(id, { format: "webp" })).rejects.toMatchObject({ code: "not_implemented" });
});

test.each<[string, unknown]>([
  ["a range that ends before it starts", { range: { start: 2, end: 1 } }],
  ["a range of strings", { range: { start: "0", end: "1" } }],
  ["an option that does not exist", { size: "20x" }],
])("open() rejects %s with a TypeError", async (_what, options) => {
  const { images } = createLibrarySite();
  await expect(images.open("A".repeat(22), options as OpenOptions)).rejects.toBeInstanceOf(TypeError);
});

test.each(["steps", "signed"] as const)(
  'sizes: "%s" restricts clients over HTTP, not calls in code',
  async (sizes) => {
    const site = createLibrarySite({ sizes });
    const { id } = await site.images.add(PNG);
    const { body } = await site.images.open(id, { format: "jpg", resize: "17x19" });
    expect(await buffer(body)).toEqual(
      Buffer.from('{"format":"jpg","quality":"high","maxWidth":17,"maxHeight":19}'),
    );
  },
);

test("calls in code and requests share one render, and its rendition is stored once", async () => {
  const renderer = namingRenderer();
  const site = createLibrarySite({ renderer });
  const { id } = await site.images.add(PNG);
  const [opened, reply, other] = await Promise.all([
    site.images.open(id, { format: "webp" }),
    site.send("GET", `/api/images/${id}.webp`),
    site.images.open(id, { format: "webp" }),
  ]);
  expect((await buffer(opened.body)).toString()).toBe(reply.text);
  expect((await buffer(other.body)).toString()).toBe(reply.text);
  expect(renderer.renders).toBe(1);
});

test("calls in code count against no limit per client and no render budget", async () => {
  const renderer = Object.assign(namingRenderer(), { workers: 1, maxQueue: 100 });
  const site = createLibrarySite({ renderer, renderBudget: 1, rateLimits: { reads: 1 } });
  renderer.onRender = ({ onCost }) => onCost?.(60_000);
  const { id } = await site.images.add(PNG);
  const sizes = Array.from({ length: 30 }, (_, index) => `${index + 1}x`);
  const opened = await Promise.all(sizes.map((resize) => site.images.open(id, { format: "jpg", resize })));
  for (const { body } of opened) body.destroy();
  expect(renderer.renders).toBe(30);
});

test.each<[string, (site: ReturnType<typeof createLibrarySite>, id: string) => unknown, object]>([
  ["is deleted", ({ images }, id) => images.remove(id), { code: "gone" }],
  ["expires", ({ clock }) => (clock.now += DAY), { code: "gone" }],
  [
    "is withheld",
    ({ images }, id) => images.withhold(id, { reason: "By order.", authority: "https://court.example/7" }),
    { code: "withheld", message: "By order.", authority: "https://court.example/7" },
  ],
])(
  "open() of an image that %s during its render rejects with the error for that end",
  async (_what, end, expected) => {
    const renderer = namingRenderer();
    const site = createLibrarySite({ renderer });
    const { id } = await site.images.add(PNG);
    renderer.onRender = () => end(site, id);
    await expect(site.images.open(id, { format: "webp" })).rejects.toMatchObject(expected);
  },
);

/** Calls for a WebP whose renders end when the test says, and the signals of these renders. */
async function heldRender() {
  const renderer = namingRenderer();
  const { images } = createLibrarySite({ renderer });
  const { id } = await images.add(PNG);
  const signals: AbortSignal[] = [];
  const held = event();
  renderer.onRender = ({ signal }) => {
    if (signal !== undefined) signals.push(signal);
    return held.promise;
  };
  const leaving = new AbortController();
  const open = (signal?: AbortSignal) => images.open(id, { format: "webp", ...(signal && { signal }) });
  return { renderer, signals, leaving, open, give: held.give };
}

test("an aborted open() rejects with the signal's reason, and ends no render that another call waits for", async () => {
  const { renderer, signals, leaving, open, give } = await heldRender();
  const first = open(leaving.signal);
  const second = open();
  await eventually(() => expect(signals).toHaveLength(1));
  leaving.abort(new Error("left"));
  await expect(first).rejects.toThrow("left");
  expect(signals[0]?.aborted).toBe(false);
  give();
  expect(String(await buffer((await second).body))).toBe('{"format":"webp"}');
  expect(renderer.renders).toBe(1);
});

test("a render whose last caller leaves is aborted, and the next call starts another", async () => {
  const { signals, leaving, open, give } = await heldRender();
  const left = open(leaving.signal);
  await eventually(() => expect(signals).toHaveLength(1));
  leaving.abort(new Error("left"));
  await expect(left).rejects.toThrow("left");
  expect(signals[0]?.aborted).toBe(true);
  const next = open();
  await eventually(() => expect(signals).toHaveLength(2));
  give();
  expect(String(await buffer((await next).body))).toBe('{"format":"webp"}');
});
