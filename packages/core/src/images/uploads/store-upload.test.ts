import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { acceptAll, cleanedTo, createFakeRenderer } from "@outrigger/testing";
import { afterAll, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, created, createSite, eventually, keysOf, storedRecord } from "../../../test/image-site.ts";
import { ServiceError } from "../../errors.ts";
import { createFsBlobStore } from "../../stores/fs/fs-blob-store.ts";

const root = mkdtempSync(join(tmpdir(), "outrigger-store-upload-"));
afterAll(() => rmSync(root, { recursive: true }));

function fsStore() {
  return createFsBlobStore({ directory: mkdtempSync(join(root, "store-")) });
}

describe.each([
  ["a memory store", undefined],
  ["a store on disk", fsStore],
])("an upload to %s that is processed in time", (_where, createStore) => {
  const siteOptions = () => (createStore === undefined ? {} : { store: createStore() });

  test("answers 201 and is stored unchanged", async () => {
    const site = createSite({ ...siteOptions(), renderer: createFakeRenderer(acceptAll) });
    const answer = await site.create();
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty("Retry-After");
    expect(answer.json).toMatchObject({ status: "ready", size: PNG.length, width: 40, height: 30, pages: 1 });
    const { id } = created(answer);
    expect(await bytesAt(site.store, `${id}/original`)).toEqual(PNG);
    expect(await keysOf(site.store)).toEqual([`${id}/original`, `${id}/record`]);
  });

  test("is stored as the renderer's cleaned copy, with the size and hash of the copy", async () => {
    const site = createSite(siteOptions());
    const creating = site.create();
    const admitting = await site.renderer.next();
    const clean = Buffer.from("a clean picture");
    const admission = await cleanedTo(admitting, clean);
    admitting.accept(admission);
    const { id } = created(await creating);
    expect(await bytesAt(site.store, `${id}/original`)).toEqual(clean);
    expect(await storedRecord(site.store, id)).toMatchObject({ ...admission.cleaned, width: 40 });
    expect(existsSync(admitting.options.cleanedPath)).toBe(false);
  });

  test("leaves nothing after a 415, not even a half cleaned copy", async () => {
    const site = createSite(siteOptions());
    const creating = site.create();
    const admitting = await site.renderer.next();
    await cleanedTo(admitting, Buffer.from("half"));
    admitting.refuse(new ServiceError("unsupported_media", "This cannot be read."));
    expect(await creating).toMatchObject({ status: 415, json: { detail: "This cannot be read." } });
    expect(await keysOf(site.store)).toEqual([]);
    expect(existsSync(admitting.options.cleanedPath)).toBe(false);
  });
});

test("the options keepMetadata and keepPdfActions are passed to the renderer", async () => {
  for (const keepMetadata of [true, false]) {
    const site = createSite({ keepMetadata, keepPdfActions: !keepMetadata });
    const creating = site.create();
    const { options, accept } = await site.renderer.next();
    expect(options).toMatchObject({ keepMetadata, keepPdfActions: !keepMetadata });
    accept();
    await creating;
  }
});

describe("an upload that takes longer than asyncAfterMs", () => {
  test("answers 202 with the final addresses, and is processed in the background", async () => {
    const site = createSite({ asyncAfterMs: 20, publicUrl: "https://example.com/img" });
    const answer = await site.create();
    expect(answer.status).toBe(202);
    const { id, pin } = created(answer);
    const url = `https://example.com/img/${id}`;
    const editUrl = `${url}/edit?pin=${pin}`;
    expect(answer.headers).toMatchObject({
      Location: url,
      "X-Service-Image-Url": url,
      "X-Service-Image-Edit-Url": editUrl,
      "X-Service-Image-Pin": pin,
      "X-Service-Image-Id": id,
      "Retry-After": "1",
      "Cache-Control": "no-store",
    });
    expect(answer.headers.Link).toContain('rel="describedby"');
    expect(answer.headers).not.toHaveProperty("Preference-Applied");
    expect(answer.json).toMatchObject({
      ...{ id, url, editUrl, pin },
      ...{ status: "processing", size: PNG.length, width: null, height: null, pages: null },
    });

    (await site.renderer.next()).accept();
    await eventually(async () => expect(await keysOf(site.store)).toHaveLength(2));
    expect(site.renderer.calls).toBe(1);
    const record = await site.send("GET", `/api/images/${id}.json`);
    expect(record).toMatchObject({ status: 200, json: { status: "ready", width: 40, height: 30, pages: 1 } });
    expect(await bytesAt(site.store, `${id}/original`)).toEqual(PNG);
  });

  test("keeps its file in place for the renderer, and removes it at the end", async () => {
    const store = fsStore();
    const site = createSite({ asyncAfterMs: 20, store });
    const { id } = created(await site.create());
    const admitting = await site.renderer.next();
    const path = "path" in admitting.source ? admitting.source.path : "";
    expect(readFileSync(path)).toEqual(PNG);
    expect(await bytesAt(store, `${id}/upload`)).toEqual(PNG);
    const clean = Buffer.from("clean");
    admitting.accept(await cleanedTo(admitting, clean));
    await eventually(async () => expect(await keysOf(store)).toEqual([`${id}/original`, `${id}/record`]));
    expect(await bytesAt(store, `${id}/original`)).toEqual(clean);
    await eventually(() => expect(readdirSync(store.spoolDirectory)).toEqual([]));
  });

  test("answers 201 at the end if asyncAfterMs is false", async () => {
    const site = createSite({ asyncAfterMs: false });
    let isAnswered = false;
    const creating = site.create().finally(() => {
      isAnswered = true;
    });
    const admitting = await site.renderer.next();
    await new Promise(setImmediate);
    expect(isAnswered).toBe(false);
    admitting.accept();
    expect((await creating).status).toBe(201);
  });

  test("answers 202 with only the URL as text", async () => {
    const site = createSite({ asyncAfterMs: 0 });
    const answer = await site.send("POST", "/api/images.txt");
    expect(answer.status).toBe(202);
    expect(answer.text).toBe(`${answer.headers.Location}\n`);
  });
});

describe("a create with Prefer: respond-async", () => {
  const respondAsync = { headers: { prefer: "respond-async" } };

  test("answers 202 with Preference-Applied before the renderer reads the file", async () => {
    const site = createSite({ asyncAfterMs: false });
    const answer = await site.create(respondAsync);
    expect(answer.status).toBe(202);
    expect(answer.headers).toMatchObject({ "Preference-Applied": "respond-async" });
    const { id } = created(answer);
    (await site.renderer.next()).accept();
    await eventually(async () =>
      expect(await keysOf(site.store)).toEqual([`${id}/original`, `${id}/record`]),
    );
  });

  test("answers 201 if the upload is done within wait", async () => {
    const site = createSite({ renderer: createFakeRenderer(acceptAll), asyncAfterMs: 0 });
    const answer = await site.create({ headers: { prefer: "respond-async, wait=10" } });
    expect(answer.status).toBe(201);
    expect(answer.headers).not.toHaveProperty("Preference-Applied");
  });

  test("answers 415 and 400 at once for errors in the file's head and in the request", async () => {
    const site = createSite();
    expect((await site.create({ ...respondAsync, file: Buffer.from("no picture") })).status).toBe(415);
    expect((await site.create({ ...respondAsync, search: "expiresAt=soon" })).status).toBe(400);
    expect(await keysOf(site.store)).toEqual([]);
  });

  test("answers 202 while the renderer is overloaded, and other creates answer 503", async () => {
    const site = createSite();
    const busy = new ServiceError("overloaded", "Too many.", { retryAfterMs: 7000 });
    site.renderer.answer = ({ refuse }) => refuse(busy);
    const other = await site.create();
    expect([other.status, other.headers["Retry-After"]]).toEqual([503, "7"]);
    expect(await keysOf(site.store)).toEqual([]);
    const answer = await site.create({ headers: { prefer: "respond-async, wait=5" } });
    expect(answer.status).toBe(202);
    expect(site.errors).toEqual([]);
  });
});

describe("a client that disconnects", () => {
  test("during the admission aborts its upload, which leaves nothing", async () => {
    const site = createSite();
    const client = new AbortController();
    const creating = site.create({ signal: client.signal });
    const { signal } = await site.renderer.next();
    client.abort(new Error("The client left"));
    expect(signal?.aborted).toBe(true);
    await creating;
    expect(await keysOf(site.store)).toEqual([]);
    expect(site.errors).toEqual([]);
  });

  test("after the 202 does not abort its upload", async () => {
    const site = createSite({ asyncAfterMs: 20 });
    const client = new AbortController();
    const { id } = created(await site.create({ signal: client.signal }));
    client.abort(new Error("The client left"));
    const admitting = await site.renderer.next();
    expect(admitting.signal?.aborted).toBe(false);
    admitting.accept();
    await eventually(async () =>
      expect(await storedRecord(site.store, id)).toMatchObject({ processing: null, width: 40 }),
    );
  });
});

test("a store without space for the pending upload answers 507, and nothing stays", async () => {
  const store = createSite().store;
  const put: typeof store.put = async (key, body, options) => {
    if (!key.endsWith("/upload")) return store.put(key, body, options);
    if (body instanceof Readable) body.on("error", () => undefined).destroy();
    throw new ServiceError("no_space", "The disk is full");
  };
  const site = createSite({ store: { ...store, put }, asyncAfterMs: 20 });
  const creating = site.create();
  const { signal } = await site.renderer.next();
  expect((await creating).status).toBe(507);
  expect(signal?.aborted).toBe(true);
  expect(await keysOf(store)).toEqual([]);
});

test.each([-1, 0.5, 60_001, Number.NaN])(
  "createImages throws a TypeError for asyncAfterMs %s",
  (asyncAfterMs) => {
    expect(() => createSite({ asyncAfterMs })).toThrow(TypeError);
  },
);
