import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { cleanedTo, createFakeRenderer } from "../../../test/fake-renderer.ts";
import { bytesAt, eventually, keysOf } from "../../../test/image-site.ts";
import { createLibrarySite, namingRenderer, spooled } from "../../../test/library-site.ts";
import { createDiskStore, DAY, STORES } from "../../../test/life-site.ts";
import { holdUp, tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";
import type { AddOptions } from "./image-library.ts";
import type { ImageSource } from "./spool-source.ts";

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]);
const OTHER = Buffer.concat([PNG, Buffer.from("another")]);

/** A stream that gives its first bytes and then nothing. */
function stalled(): Readable {
  const source = new Readable({ read() {} });
  source.push(PNG);
  return source;
}

describe.each(Object.entries(STORES))("add, %s", (_where, createStore) => {
  test.each<[string, () => ImageSource, string]>([
    ["a Buffer", () => PNG, "untitled"],
    ["a stream of chunks", () => Readable.from([PNG.subarray(0, 3), PNG.subarray(3)]), "untitled"],
    ["a Blob", () => new Blob([PNG]), "untitled"],
    ["a File", () => new File([PNG], "Café.png"), "Café.png"],
  ])("stores the bytes of %s, and describes the image as HTTP does", async (_what, source, name) => {
    const site = createLibrarySite({ store: createStore(), publicUrl: "https://example.com/img" });
    const { revision, editUrl, pin, ...details } = await site.images.add(source());
    expect(await bytesAt(site.store, `${details.id}/original`)).toEqual(PNG);
    const { json } = await site.send("GET", `/api/images/${details.id}.json`);
    expect(details).toEqual(json);
    expect(details).toMatchObject({
      name,
      type: "image/png",
      status: "ready",
      agent: null,
      size: PNG.length,
    });
    expect(editUrl).toBe(`https://example.com/img/${details.id}/edit?pin=${pin}`);
    expect((await site.images.find(details.id)).revision).toBe(revision);
    const headers = { "x-service-image-pin": pin };
    expect((await site.send("DELETE", `/api/images/${details.id}.json`, { headers })).status).toBe(204);
  });

  test("gives the fields of a 201 in their order, and the revision behind them", async () => {
    const site = createLibrarySite({ store: createStore() });
    const answer = await site.create();
    const added = await site.images.add(PNG);
    expect(Object.keys(added)).toEqual([...Object.keys(answer.json), "revision"]);
    expect(added.url).toBe(`/${added.id}`);
  });

  test("a source beyond maxUploadBytes is too_large, read no further, and nothing is left", async () => {
    const site = createLibrarySite({ store: createStore(), maxUploadBytes: 100_000 });
    const endless = Readable.from(
      (function* () {
        for (;;) yield PNG;
      })(),
    );
    for (const source of [endless, Buffer.alloc(100_001), new Blob([Buffer.alloc(100_001)])]) {
      await expect(site.images.add(source)).rejects.toMatchObject({ code: "too_large" });
    }
    expect(endless.destroyed).toBe(true);
    expect(await keysOf(site.store)).toEqual([]);
  });

  test("an aborted add rejects with the signal's reason and leaves nothing", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ store: createStore(), renderer });
    const leaving = new AbortController();
    const reason = new Error("not needed");
    const source = stalled();
    const reading = site.images.add(source, { signal: leaving.signal });
    const admitted = new AbortController();
    const checking = site.images.add(PNG, { signal: admitted.signal });
    await renderer.next();
    leaving.abort(reason);
    admitted.abort(reason);
    await Promise.all([expect(reading).rejects.toBe(reason), expect(checking).rejects.toBe(reason)]);
    await expect(site.images.add(PNG, { signal: admitted.signal })).rejects.toBe(reason);
    expect(source.destroyed).toBe(true);
    expect(await keysOf(site.store)).toEqual([]);
    expect(site.errors).toEqual([]);
  });
});

test("the file at a path is copied: it stays as it is, and no name of it is in the store", async () => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  const path = join(store.spoolDirectory, "..", "portrait.png");
  await writeFile(path, PNG);
  const before = await stat(path);
  const { id, name } = await site.images.add({ path });
  expect(name).toBe("portrait.png");
  expect(await bytesAt(store, `${id}/original`)).toEqual(PNG);
  expect(await readFile(path)).toEqual(PNG);
  expect(await stat(path)).toMatchObject({ ino: before.ino, nlink: 1, mtimeMs: before.mtimeMs });
  expect(await spooled(store)).toEqual([]);
});

test.each(["", "/", "missing.png"])("a path that cannot be read (%s) is bad_request", async (end) => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  const adding = site.images.add({ path: `${store.spoolDirectory}/${end}` });
  await expect(adding).rejects.toMatchObject({ code: "bad_request", cause: expect.any(Error) });
  expect(await spooled(store)).toEqual([]);
});

test("a stream that fails rejects with its own error, also when it fails before it is read", async () => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  const failure = new Error("the camera is gone");
  const early = stalled();
  const adding = site.images.add(early);
  early.destroy(failure);
  await expect(adding).rejects.toBe(failure);
  const late = Readable.from(
    (async function* () {
      yield PNG;
      throw failure;
    })(),
  );
  await expect(site.images.add(late)).rejects.toBe(failure);
  expect(await spooled(store)).toEqual([]);
  expect(await keysOf(store)).toEqual([]);
});

test("a request as source can be replied to when it is refused, before it is read and in its midst", async () => {
  const site = createLibrarySite({ maxUploadBytes: 100_000 });
  const server = createServer((req, res) => {
    const options = req.url === "/unread" ? { name: "n".repeat(256) } : {};
    site.images.add(req, options).catch((error: ServiceError) => res.end(error.code));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // It listens on a port.
  const post = async (path: string) => {
    const body = Buffer.concat([PNG, Buffer.alloc(3_000_000)]);
    return (await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", body })).text();
  };
  try {
    expect(await post("/unread")).toBe("bad_request");
    expect(await post("/large")).toBe("too_large");
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test.each<[string, ImageSource, AddOptions, string]>([
  ["bytes of no known type", Buffer.from("no picture"), {}, "unsupported_media"],
  ["bytes of another type than declared", PNG, { type: "image/jpeg" }, "unsupported_media"],
  ["a declared type that is not taken", PNG, { type: "text/html" }, "unsupported_media"],
  ["a name of 256 characters", PNG, { name: "n".repeat(256) }, "bad_request"],
  ["an end in the past", PNG, { expiresAt: 0 }, "bad_request"],
  ["an end without a zone", PNG, { expiresAt: "2026-03-05T10:00" }, "bad_request"],
  ["an end that is no date", PNG, { expiresAt: new Date(Number.NaN) }, "bad_request"],
  ["an end beyond maxLifetimeMs", PNG, { expiresAt: new Date("2028-01-01") }, "bad_request"],
  ["an idempotency key with a space", PNG, { idempotencyKey: "a b" }, "bad_request"],
  ["more bytes than the owner may have", PNG, { owner: "anna", ownerLimits: { bytes: 1 } }, "forbidden"],
])("%s is refused, and nothing is left", async (_what, source, options, code) => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  await expect(site.images.add(source, options)).rejects.toMatchObject({ code });
  expect(await spooled(store)).toEqual([]);
  expect(await keysOf(store)).toEqual([]);
});

test.each<[string, unknown, unknown]>([
  ["a text as source", "portrait.png", {}],
  ["no source", undefined, {}],
  ["a stream of texts", Readable.from(["text"]), {}],
  ["an option that does not exist", Readable.from([PNG]), { expires: 1 }],
  ["an owner without a name", Readable.from([PNG]), { owner: "" }],
  ["an owner limit below 0", Readable.from([PNG]), { owner: "anna", ownerLimits: { images: -1 } }],
  ["a signal that is none", Readable.from([PNG]), { signal: {} }],
])("%s is a TypeError, and the stream is destroyed", async (_what, source, options) => {
  const site = createLibrarySite();
  // As JavaScript would have it.
  const adding = site.images.add(source as ImageSource, options as AddOptions);
  await expect(adding).rejects.toBeInstanceOf(TypeError);
  expect(source instanceof Readable ? source.destroyed : true).toBe(true);
});

test("the declared type may have parameters, and name, end and owner are kept", async () => {
  const site = createLibrarySite();
  const expiresAt = new Date(site.clock.now + 2 * DAY);
  const { images } = site;
  for (const moment of [expiresAt, Number(expiresAt), expiresAt.toISOString()]) {
    const options = { type: "IMAGE/PNG; q=1", name: " Anna\n", expiresAt: moment, owner: "anna" };
    expect(await images.add(PNG, options)).toMatchObject({
      name: "Anna",
      expiresAt: expiresAt.toISOString(),
    });
  }
  expect(await images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
  const limited = images.add(PNG, { owner: "anna", ownerLimits: { images: 3 } });
  await expect(limited).rejects.toMatchObject({ code: "forbidden" });
  expect(await images.usage("anna")).toEqual({ images: 3, bytes: 3 * PNG.length });
});

test("neither authorize nor rate limits nor the bound of a client's checks are asked", async () => {
  const renderer = Object.assign(namingRenderer(null), { workers: 1, maxQueue: 100 });
  const site = createLibrarySite({ renderer, authorize: () => false, rateLimits: { creates: 1 } });
  const adding = Promise.all(Array.from({ length: 20 }, () => site.images.add(PNG)));
  for (let count = 0; count < 20; count++) (await renderer.next()).accept();
  expect(new Set((await adding).map(({ id }) => id)).size).toBe(20);
  expect((await site.create()).status).toBe(403);
});

test("where the whole line is full, add rejects with overloaded", async () => {
  const renderer = Object.assign(namingRenderer(null), { workers: 1, maxQueue: 1 });
  const site = createLibrarySite({ renderer });
  const adding = [site.images.add(PNG), site.images.add(PNG), site.images.add(PNG)];
  const settled = Promise.allSettled(adding);
  await expect(Promise.race(adding)).rejects.toMatchObject({ code: "overloaded" });
  (await renderer.next()).accept();
  (await renderer.next()).accept();
  expect((await settled).filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

describe("wait", () => {
  test("add waits for the checks, however long asyncAfterMs is, and rejects as they do", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer, asyncAfterMs: 0 });
    const adding = site.images.add(PNG);
    const admitting = await renderer.next();
    admitting.accept(await cleanedTo(admitting, Buffer.from("clean")));
    expect(await adding).toMatchObject({ status: "ready", size: 5, width: 40 });
    const refused = site.images.add(PNG);
    (await renderer.next()).refuse(new ServiceError("too_costly", "Too many pixels."));
    await expect(refused).rejects.toMatchObject({ code: "too_costly", message: "Too many pixels." });
  });

  test("false resolves at once, and the image is ready later", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const added = await site.images.add(PNG, { wait: false });
    expect(added).toMatchObject({ status: "processing", width: null });
    expect(await site.images.find(added.id)).toMatchObject({
      status: "processing",
      revision: expect.any(String),
    });
    await expect(site.images.open(added.id)).rejects.toMatchObject({
      code: "processing",
      retryAfterMs: 1000,
    });
    await expect(site.images.edit(added.id, { name: "x" })).rejects.toMatchObject({ code: "conflict" });
    (await renderer.next()).accept();
    await eventually(async () => expect((await site.images.find(added.id)).status).toBe("ready"));
  });

  test("false is accepted while the renderer is overloaded, and refused where too much waits", async () => {
    const renderer = createFakeRenderer(({ refuse }) => refuse(new ServiceError("overloaded", "Too many.")));
    const site = createLibrarySite({ renderer });
    await expect(site.images.add(PNG)).rejects.toMatchObject({ code: "overloaded" });
    expect(await site.images.add(PNG, { wait: false })).toMatchObject({ status: "processing" });
  });

  test("true waits for an image that an earlier call with the key left to be processed", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const first = await site.images.add(PNG, { wait: false, idempotencyKey: "a" });
    const second = site.images.add(PNG, { idempotencyKey: "a" });
    (await renderer.next()).accept();
    expect(await second).toMatchObject({ id: first.id, status: "ready", pin: first.pin });
  });

  test("true rejects when the image of an earlier call with the key is refused", async () => {
    const renderer = createFakeRenderer();
    let isSecond = false;
    let noteLook = () => {};
    const looked = new Promise<void>((resolve) => {
      noteLook = resolve;
    });
    const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
      if (isSecond && method === "get" && key.endsWith("/record")) noteLook();
    });
    const site = createLibrarySite({ renderer, store });
    await site.images.add(PNG, { wait: false, idempotencyKey: "a" });
    const admitting = await renderer.next();
    isSecond = true;
    const second = expect(site.images.add(PNG, { idempotencyKey: "a" })).rejects.toMatchObject({
      code: "unsupported_media",
      message: "Its pixels end early.",
    });
    await looked;
    admitting.refuse(new ServiceError("unsupported_media", "Its pixels end early."));
    await second;
  });

  test("an aborted wait for an earlier call's image leaves that image alone", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const { id } = await site.images.add(PNG, { wait: false, idempotencyKey: "a" });
    const leaving = new AbortController();
    const held = site.images.add(PNG, { idempotencyKey: "a", signal: leaving.signal });
    leaving.abort(new Error("left"));
    await expect(held).rejects.toThrow("left");
    (await renderer.next()).accept();
    await eventually(async () => expect((await site.images.find(id)).status).toBe("ready"));
  });
});

describe("an idempotency key", () => {
  test("gives the first image again for the same bytes, name and type, whatever their end", async () => {
    const site = createLibrarySite();
    const key = { idempotencyKey: "order-17" };
    const first = await site.images.add(PNG, key);
    const again = await site.images.add(Readable.from([PNG]), { ...key, expiresAt: site.clock.now + DAY });
    expect(again).toEqual(first);
    for (const [source, options] of [
      [OTHER, key],
      [PNG, { ...key, name: "Other" }],
      [PNG, { ...key, type: "image/png" }],
    ] as const) {
      await expect(site.images.add(source, options)).rejects.toMatchObject({ code: "conflict" });
    }
    expect((await keysOf(site.store)).filter((name) => name.endsWith("/record"))).toHaveLength(1);
  });

  test("of one owner says nothing to others, nor to clients over HTTP", async () => {
    const site = createLibrarySite({ authorize: () => ({ owner: "anna" }) });
    const key = { idempotencyKey: "order-17" };
    const ids = [
      (await site.images.add(PNG, key)).id,
      (await site.images.add(PNG, { ...key, owner: "anna" })).id,
      (await site.images.add(PNG, { ...key, owner: "ben" })).id,
      (await site.create({ headers: { "idempotency-key": "order-17" } })).json.id,
    ];
    expect(new Set(ids).size).toBe(4);
  });

  test("of a call that still runs is a conflict with a time to ask again", async () => {
    const renderer = createFakeRenderer();
    const site = createLibrarySite({ renderer });
    const first = site.images.add(PNG, { idempotencyKey: "a" });
    const admitting = await renderer.next();
    const second = site.images.add(PNG, { idempotencyKey: "a" });
    await expect(second).rejects.toMatchObject({ code: "conflict", retryAfterMs: 2000 });
    admitting.accept();
    await first;
  });
});

test("an add that a crash cuts off is deleted by the sweep after a quarter of an hour", async () => {
  const store = createMemoryBlobStore();
  const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/record"));
  const dying = createLibrarySite({ store: tapStore(store, held.tap) });
  void dying.images.add(PNG);
  await held.reached;
  dying.kill();
  const site = createLibrarySite({ store, clock: dying.clock });
  dying.clock.now += 15 * 60_000;
  expect(await site.images.sweep()).toMatchObject({ forgotten: 1 });
  expect(await keysOf(store)).toEqual([]);
});

test("bytes of another kind get their own type", async () => {
  const { images } = createLibrarySite();
  expect(await images.add(JPEG)).toMatchObject({ type: "image/jpeg" });
  expect(await images.add(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))).toMatchObject({
    type: "image/svg+xml",
  });
});
