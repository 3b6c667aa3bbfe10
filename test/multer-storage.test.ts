import { createImages, createMemoryBlobStore, type Images } from "@outrigger/core";
import { outriggerStorage } from "@outrigger/node";
import { createHeaderRenderer } from "@outrigger/testing";
import express5, { type ErrorRequestHandler, type Request, type RequestHandler } from "express";
import multer from "multer";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Host, serveHost } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";

const MAX_UPLOAD_BYTES = 500_000;
let images: Images;
let picture: Buffer;
const logged: unknown[] = [];

beforeAll(async () => {
  const log = (...line: unknown[]) => logged.push(line);
  images = createImages({
    storage: createMemoryBlobStore(),
    renderer: createHeaderRenderer(),
    secret: "0123456789abcdef0123456789abcdef",
    publicUrl: "https://img.example/img",
    maxUploadBytes: MAX_UPLOAD_BYTES,
    ownerLimits: { images: 100 },
    logger: { info: log, warn: log, error: log },
  });
  await images.ready();
  picture = await jpegPhoto(400, 300);
});

afterAll(() => images.close());

/** A part of a form: a text, or a file. */
type Part = [field: string, content: string | Buffer, name?: string, type?: string];

function formOf(...parts: Part[]): FormData {
  const form = new FormData();
  for (const [field, content, name = "Grüße.jpg", type = "image/jpeg"] of parts) {
    if (typeof content === "string") form.set(field, content);
    else form.append(field, new File([new Uint8Array(content)], name, { type }));
  }
  return form;
}

async function liveImages(): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id, state } of images.list()) if (state === "ready") ids.push(id);
  return ids.sort();
}

describe("outriggerStorage in Express", () => {
  let host: Host;
  /** What the last request left. */
  let left: Record<string, unknown>;
  let failure: unknown;
  let streams: Express.Multer.File["stream"][] = [];

  const answer: RequestHandler = (req, res) => {
    left = { file: req.file, files: req.files, body: req.body };
    res.sendStatus(204);
  };
  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    failure = error;
    res.status(error.status ?? 500).json({ code: error.code, message: error.message });
  };

  beforeAll(async () => {
    const storage = outriggerStorage(images, (req: Request, file) => {
      streams.push(file.stream);
      if (req.headers["x-user"] === "unknown") throw new Error("no such user");
      return { owner: String(req.headers["x-user"] ?? "ann"), ownerLimits: { images: 50 } };
    });
    const app = express5();
    app.post("/one", multer({ storage }).single("avatar"), answer);
    app.post("/plain", multer({ storage: outriggerStorage(images) }).single("avatar"), answer);
    app.post("/many", multer({ storage, limits: { files: 2 } }).array("avatars"), answer);
    app.post("/short", multer({ storage, limits: { fileSize: 5000 } }).single("avatar"), answer);
    app.use(onError);
    host = await serveHost(app);
  });

  afterAll(() => host.close());

  async function post(path: string, body: FormData, headers: Record<string, string> = {}) {
    left = {};
    failure = undefined;
    streams = [];
    const reply = await fetch(host.base + path, { method: "POST", body, headers });
    return { status: reply.status, text: await reply.text() };
  }

  test("req.file has the image beside multer's own properties, and the image can be read", async () => {
    expect((await post("/one", formOf(["title", "Harbour"], ["avatar", picture]))).status).toBe(204);
    const { file, body } = left as { file: Record<string, unknown>; body: object };
    expect(file).toMatchObject({
      ...{ fieldname: "avatar", mimetype: "image/jpeg", size: picture.length },
      ...{ id: expect.stringMatching(/^[\w-]{22}$/), name: "Grüße.jpg", type: "image/jpeg" },
      ...{ width: 400, height: 300, status: "ready", pin: expect.stringMatching(/^[0-9A-Z]{16}$/) },
      url: `https://img.example/img/${file.id}`,
      editUrl: `https://img.example/img/${file.id}/edit?pin=${file.pin}`,
    });
    expect(file).toHaveProperty("originalname");
    expect({ ...body }).toEqual({ title: "Harbour" });
    const { body: bytes, size } = await images.open(String(file.id));
    bytes.destroy();
    expect(size).toBe(picture.length);
    expect(JSON.stringify(logged)).not.toContain(String(file.pin));
  });

  test("the options of a file come from the request, and are optional", async () => {
    await post("/one", formOf(["avatar", picture]), { "X-User": "bob" });
    expect(await images.usage("bob")).toMatchObject({ images: expect.any(Number) });
    expect((await images.usage("bob")).images).toBeGreaterThan(0);
    expect((await post("/plain", formOf(["avatar", picture, `${"n".repeat(300)}.jpg`]))).status).toBe(204);
    expect(left.file).toMatchObject({ name: "n".repeat(255) });
  });

  test("a file that uploads over HTTP would refuse reaches the error handler with status and code", async () => {
    const before = await liveImages();
    for (const [parts, status, code, message = ""] of [
      [["avatar", Buffer.from("no picture")], 415, "unsupported_media", "The file is not a PNG, "],
      [["avatar", picture, "a.png", "image/png"], 415, "unsupported_media", "The file is declared as "],
      [["avatar", picture, "a.zip", "application/zip"], 415, "unsupported_media"],
      [["avatar", Buffer.concat([picture, Buffer.alloc(MAX_UPLOAD_BYTES)])], 413, "too_large"],
    ] as [Part, number, string, string?][]) {
      expect(JSON.parse((await post("/one", formOf(parts))).text)).toMatchObject({ code });
      expect(failure).toMatchObject({
        name: "ServiceError",
        code,
        status,
        statusCode: status,
        field: "avatar",
      });
      expect(String(Object(failure).message)).toMatch(RegExp(`^${message}`));
    }
    expect(await liveImages()).toEqual(before);
  });

  test("an error of the function for options reaches the error handler, and the request is answered", async () => {
    expect((await post("/one", formOf(["avatar", picture]), { "X-User": "unknown" })).status).toBe(500);
    expect(failure).toMatchObject({ message: "no such user" });
  });

  test("a file over the service's limit is not read to its end", async () => {
    const huge = Buffer.concat([picture, Buffer.alloc(20_000_000)]);
    expect((await post("/one", formOf(["avatar", huge]))).status).toBe(413);
    expect(streams).toHaveLength(1);
    expect(streams[0]?.readableEnded).toBe(false);
  });

  test("a file over multer's own limit is not stored", async () => {
    const before = await liveImages();
    expect(JSON.parse((await post("/short", formOf(["avatar", picture]))).text).code).toBe("LIMIT_FILE_SIZE");
    expect(await liveImages()).toEqual(before);
  });

  test("images that were stored are deleted if multer rejects the request afterwards", async () => {
    const before = await liveImages();
    const file: Part = ["avatars", picture];
    expect((await post("/many", formOf(file, file))).status).toBe(204);
    expect(left.files).toHaveLength(2);
    const after = await liveImages();
    expect(after).toHaveLength(before.length + 2);
    expect(JSON.parse((await post("/many", formOf(file, file, file))).text).code).toBe("LIMIT_FILE_COUNT");
    expect((await post("/many", formOf(file, ["avatars", Buffer.from("no picture")]))).status).toBe(415);
    await expect.poll(liveImages).toEqual(after);
  });

  test("a client that disconnects leaves no image", async () => {
    const before = await liveImages();
    const abort = new AbortController();
    const encoded = new Response(formOf(["avatar", picture]));
    const bytes = new Uint8Array(await encoded.arrayBuffer());
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    });
    const headers = { "Content-Type": encoded.headers.get("content-type") ?? "" };
    streams = [];
    const init = { method: "POST", body, duplex: "half", headers, signal: abort.signal } as RequestInit;
    const gone = fetch(`${host.base}/one`, init);
    await expect.poll(() => streams).toHaveLength(1);
    abort.abort();
    await expect(gone).rejects.toThrow();
    await expect.poll(() => streams[0]?.destroyed).toBe(true);
    expect(await liveImages()).toEqual(before);
  });
});

test("an image that is already gone counts as removed", async () => {
  const storage = outriggerStorage(images);
  const { id } = await images.add(picture);
  const remove = (file: object) =>
    new Promise((resolve) => storage._removeFile({}, file, (error) => resolve(error)));
  expect(await remove({ id })).toBe(null);
  expect(await remove({ id })).toBe(null);
  expect(await remove({})).toBe(null);
});

test("a service or a function of another kind is refused by a TypeError", () => {
  expect(() => outriggerStorage({} as never)).toThrow(/outriggerStorage: images must be an image service/);
  expect(() => outriggerStorage(images, 5 as never)).toThrow(/optionsOf must be a function/);
});
