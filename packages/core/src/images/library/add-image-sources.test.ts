import { once } from "node:events";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, keysOf } from "../../../test/image-site.ts";
import { createLibrarySite, spooled, stalledSource } from "../../../test/library-site.ts";
import { createDiskStore } from "../../../test/life-site.ts";
import type { ServiceError } from "../../errors.ts";
import type { AddOptions } from "./image-library.ts";
import type { ImageSource } from "./spool-source.ts";

test("add() copies the file at a path: the file is unchanged and not linked into the store", async () => {
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

test.each([
  ...["image/jpg", "image/pjpeg; q=1", "IMAGE/X-PNG", "image/svg", "image/psd", "application/x-pdf", "*/*"],
  ...["application/octet-stream", "binary/octet-stream", undefined],
])("add() with the type %s detects the type from the bytes", async (type) => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  const options: AddOptions = type === undefined ? {} : { type };
  expect(await site.images.add(PNG, options)).toMatchObject({ type: "image/png" });
});

test.each(["", "/", "missing.png"])(
  'add() rejects an unreadable path ("…/%s") with bad_request',
  async (end) => {
    const store = createDiskStore();
    const site = createLibrarySite({ store });
    const adding = site.images.add({ path: `${store.spoolDirectory}/${end}` });
    await expect(adding).rejects.toMatchObject({ code: "bad_request", cause: expect.any(Error) });
    expect(await spooled(store)).toEqual([]);
  },
);

test("add() rejects with the error of a failed stream, even if it failed before it was read", async () => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  const failure = new Error("the camera is gone");
  const early = stalledSource();
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

test("an HTTP request as source can be answered after add() rejects it, before or during reading", async () => {
  const site = createLibrarySite({ maxUploadBytes: 100_000 });
  const server = createServer((req, res) => {
    const options = req.url === "/unread" ? { name: "n".repeat(256) } : {};
    site.images.add(req, options).catch((error: ServiceError) => res.end(error.code));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // A TCP server has an AddressInfo.
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
  ["a declared type that is not accepted", PNG, { type: "text/html" }, "unsupported_media"],
  ["a name of 256 characters", PNG, { name: "n".repeat(256) }, "bad_request"],
  ["an expiry in the past", PNG, { expiresAt: 0 }, "bad_request"],
  ["an expiry without a zone", PNG, { expiresAt: "2026-03-05T10:00" }, "bad_request"],
  ["an expiry that is not a date", PNG, { expiresAt: new Date(Number.NaN) }, "bad_request"],
  ["an expiry beyond maxLifetimeMs", PNG, { expiresAt: new Date("2028-01-01") }, "bad_request"],
  ["an idempotency key with a space", PNG, { idempotencyKey: "a b" }, "bad_request"],
  ["a URL of a file", { url: "file:///etc/passwd" }, {}, "bad_request"],
  ["a URL of this machine", { url: "http://127.0.0.1/" }, {}, "bad_request"],
  ["more bytes than the owner may have", PNG, { owner: "anna", ownerLimits: { bytes: 1 } }, "forbidden"],
])("add() rejects %s and stores nothing", async (_what, source, options, code) => {
  const store = createDiskStore();
  const site = createLibrarySite({ store });
  await expect(site.images.add(source, options)).rejects.toMatchObject({ code });
  expect(await spooled(store)).toEqual([]);
  expect(await keysOf(store)).toEqual([]);
});

test.each<[string, unknown, unknown]>([
  ["a string as source", "portrait.png", {}],
  ["no source", undefined, {}],
  ["a response instead of its URL", new Response("the bytes"), {}],
  ["a URL that is no text", { url: 5 }, {}],
  ["a stream of strings", Readable.from(["text"]), {}],
  ["an option that does not exist", Readable.from([PNG]), { expires: 1 }],
  ["an owner without a name", Readable.from([PNG]), { owner: "" }],
  ["an owner limit below 0", Readable.from([PNG]), { owner: "anna", ownerLimits: { images: -1 } }],
  ["a value that is not an AbortSignal", Readable.from([PNG]), { signal: {} }],
])("add() rejects %s with a TypeError and destroys the stream", async (_what, source, options) => {
  const site = createLibrarySite();
  // Invalid values that JavaScript code may pass.
  const adding = site.images.add(source as ImageSource, options as AddOptions);
  await expect(adding).rejects.toBeInstanceOf(TypeError);
  expect(source instanceof Readable ? source.destroyed : true).toBe(true);
});
