import { acceptAll, createFakeRenderer } from "@outrigger/testing";
import { beforeEach, describe, expect, test } from "vitest";
import { PNG } from "../../../test/calls.ts";
import { bytesAt, keysOf } from "../../../test/image-site.ts";
import { HOUR, MINUTE } from "../../../test/life-site.ts";
import { createResumeSite, type ResumeSite, uploadPath } from "../../../test/resume-site.ts";
import { tapStore } from "../../../test/tapped-store.ts";
import { ServiceError } from "../../errors.ts";
import { createMemoryBlobStore } from "../../stores/memory/memory-blob-store.ts";

const SIZE = PNG.length;
const CREATED = [
  "Location",
  "Link",
  "X-Service-Image-Url",
  "X-Service-Image-Edit-Url",
  "X-Service-Image-Pin",
];

describe("a resumable upload", () => {
  let site: ResumeSite;
  beforeEach(() => {
    site = createResumeSite();
  });

  test("OPTIONS names the version, the extensions and the size limit", async () => {
    const { headers, status } = await site.send("OPTIONS", "/api/uploads");
    expect([status, headers]).toMatchObject([
      204,
      {
        Allow: "POST, OPTIONS",
        "Tus-Version": "1.0.0",
        "Tus-Extension": "creation,creation-with-upload,expiration,termination",
        "Tus-Max-Size": "26214400",
      },
    ]);
  });

  test("its last piece gets 204 with the headers of a create, and nothing of the upload is left", async () => {
    const begun = await site.begin(SIZE);
    expect([begun.status, begun.headers["Upload-Offset"]]).toEqual([201, "0"]);
    const path = uploadPath(begun);
    const first = await site.piece(path, 0, PNG.subarray(0, 10));
    expect([first.status, first.headers["Upload-Offset"]]).toEqual([204, "10"]);
    expect(Date.parse(String(first.headers["Upload-Expires"]))).toBe(site.clock.now + 12 * HOUR);
    expect((await site.head(path)).headers).toMatchObject({
      "Upload-Offset": "10",
      "Upload-Length": String(SIZE),
    });
    const last = await site.piece(path, 10, PNG.subarray(10));
    expect([last.status, last.text, last.headers["Upload-Offset"]]).toEqual([204, "", String(SIZE)]);
    for (const name of CREATED) expect(last.headers[name], name).toBeTruthy();
    expect(last.headers["Content-Type"]).toBeUndefined();
    const id = String(last.headers["X-Service-Image-Id"]);
    expect(await bytesAt(site.store, `${id}/original`)).toEqual(PNG);
    expect(await site.files()).toEqual([]);
    const edited = await site.send("DELETE", `/api/images/${id}.json`, {
      headers: { "x-service-image-pin": String(last.headers["X-Service-Image-Pin"]) },
    });
    expect(edited.status).toBe(204);
  });

  test("its creation may carry the whole file, and then names the upload and the image", async () => {
    const headers = { "content-type": "application/offset+octet-stream", "content-length": String(SIZE) };
    const begun = await site.begin(SIZE, undefined, { headers, pieces: [PNG] });
    expect([begun.status, begun.headers["Upload-Offset"]]).toEqual([201, String(SIZE)]);
    expect(uploadPath(begun)).toMatch(/^\/api\/uploads\//);
    expect(begun.headers["X-Service-Image-Pin"]).toBeTruthy();
  });

  test("a client that accepts JSON gets the record with the last byte, and for a day again with its PIN, which no header repeats after ten minutes", async () => {
    const own = createResumeSite();
    const path = uploadPath(await own.begin(SIZE));
    const asked = { headers: { accept: "application/json" } };
    const last = await own.piece(path, 0, PNG, asked);
    expect(last.status).toBe(201);
    const { id, pin, editUrl, ...facts } = JSON.parse(last.text);
    expect([last.headers.Location, pin]).toEqual([facts.url, last.headers["X-Service-Image-Pin"]]);
    const repeated = await own.piece(path, SIZE, Buffer.alloc(0), asked);
    expect([repeated.status, JSON.parse(repeated.text)]).toEqual([201, { id, pin, editUrl, ...facts }]);
    own.clock.now += 10 * MINUTE;
    for (const wait of [0, 24 * HOUR - 10 * MINUTE - 1]) {
      own.clock.now += wait;
      const late = await own.piece(path, SIZE, Buffer.alloc(0), asked);
      expect([late.status, JSON.parse(late.text)]).toEqual([201, { id, pin, editUrl, ...facts }]);
      expect([late.headers.Location, late.headers["Cache-Control"]]).toEqual([facts.url, "no-store"]);
      expect(
        JSON.stringify([late.headers, (await own.piece(path, SIZE, Buffer.alloc(0))).text]),
      ).not.toContain(pin);
    }
    own.clock.now += 1;
    expect((await own.piece(path, SIZE, Buffer.alloc(0), asked)).status).toBe(404);
  });

  test("HEAD has the headers of the create for ten minutes, then the address of the image for a day", async () => {
    const own = createResumeSite();
    const path = uploadPath(await own.begin(SIZE));
    const last = await own.piece(path, 0, PNG);
    own.clock.now += 10 * MINUTE - 1;
    const early = await own.head(path);
    expect(early.status).toBe(200);
    for (const name of CREATED) expect(early.headers[name]).toBe(last.headers[name]);
    own.clock.now += 1;
    const late = await own.head(path);
    expect([late.status, late.headers.Location]).toEqual([200, last.headers.Location]);
    for (const name of CREATED.slice(1)) expect(late.headers[name]).toBeUndefined();
    const repeated = await own.piece(path, SIZE, Buffer.alloc(0));
    expect([repeated.status, repeated.headers.Location]).toEqual([204, last.headers.Location]);
    own.clock.now += 24 * HOUR;
    expect((await own.head(path)).status).toBe(404);
    await own.images.sweep();
    expect((await keysOf(own.store)).filter((key) => key.startsWith("resumable/"))).toEqual([]);
  });

  test.each<[string, number, (path: string) => Parameters<ResumeSite["send"]>]>([
    ["a request without Tus-Resumable", 412, (path) => ["HEAD", path, { headers: { "tus-resumable": "" } }]],
    [
      "a request of another version",
      412,
      (path) => ["HEAD", path, { headers: { "tus-resumable": "0.2.2" } }],
    ],
    ["GET of the bytes", 405, (path) => ["GET", path]],
    [
      "POST with X-HTTP-Method-Override",
      405,
      (path) => ["POST", path, { headers: { "x-http-method-override": "PATCH" } }],
    ],
    ["another ID", 404, () => ["HEAD", `/api/uploads/${"A".repeat(22)}`]],
    ["a path with an encoded separator", 404, () => ["HEAD", `/api/uploads/..%2f${"A".repeat(18)}`]],
    ["a path with NUL", 404, () => ["HEAD", `/api/uploads/%00${"A".repeat(19)}`]],
    ["a path with dots", 404, () => ["HEAD", "/api/uploads/../../identity"]],
  ])("%s gets %d", async (_what, status, request) => {
    const path = uploadPath(await site.begin(SIZE));
    const reply = await site.send(...request(path));
    expect([reply.status, reply.headers["Tus-Resumable"]]).toEqual([
      status,
      status === 404 && !request(path)[1].endsWith("A".repeat(22)) ? undefined : "1.0.0",
    ]);
    expect((await site.head(path)).headers["Upload-Offset"]).toBe("0");
  });

  test.each<[string, number, Record<string, string>]>([
    ["without Upload-Length", 400, { "upload-length": "" }],
    ["with a deferred length", 400, { "upload-length": "", "upload-defer-length": "1" }],
    ["with a negative length", 400, { "upload-length": "-1" }],
    ["with a length in hexadecimal", 400, { "upload-length": "0x10" }],
    ["of a part to be concatenated", 400, { "upload-concat": "partial" }],
    ["of an empty file", 415, { "upload-length": "0" }],
    ["beyond maxUploadBytes", 413, { "upload-length": "26214401" }],
    ["with broken metadata", 400, { "upload-metadata": "filename a b c" }],
    ["with metadata that is not base64", 400, { "upload-metadata": "filename ???" }],
    ["with 9 KiB of metadata", 400, { "upload-metadata": `filename ${"AAAA".repeat(2304)}` }],
    ["of a type that is not accepted", 415, { "upload-metadata": `filetype ${btoa("video/mp4")}` }],
    ["with a date that is none", 400, { "upload-metadata": `expiresAt ${btoa("tomorrow")}` }],
    ["without User-Agent", 400, { "user-agent": "" }],
  ])("a creation %s gets %d and begins nothing", async (_what, status, headers) => {
    const before = await site.files();
    const reply = await site.begin(SIZE, undefined, { headers });
    expect([reply.status, reply.json.status]).toEqual([status, status]);
    expect(await site.files()).toEqual(before);
  });

  test.each<[string, number, number, Record<string, string>]>([
    ["at another offset", 409, 5, {}],
    ["without Upload-Offset", 409, 0, { "upload-offset": "" }],
    ["at an offset that is no number", 409, 0, { "upload-offset": "0x0" }],
    ["of another media type", 415, 0, { "content-type": "application/octet-stream" }],
    ["announced longer than the rest", 413, 0, { "content-length": String(SIZE + 1) }],
  ])("a piece %s gets %d and changes nothing", async (_what, status, offset, headers) => {
    const path = uploadPath(await site.begin(SIZE));
    expect((await site.piece(path, offset, PNG, { headers })).status).toBe(status);
    expect((await site.head(path)).headers["Upload-Offset"]).toBe("0");
  });

  test("first bytes that are too few to judge are judged with the last byte", async () => {
    const path = uploadPath(await site.begin(20));
    expect((await site.piece(path, 0, Buffer.from("no pict"))).status).toBe(204);
    expect((await site.piece(path, 7, Buffer.from("ure, not one."))).status).toBe(415);
    expect((await site.head(path)).status).toBe(404);
  });

  test("metadata and query are the fields of a create", async () => {
    const expiresAt = "2026-03-01T18:00:00.000Z";
    const begun = await site.begin(
      SIZE,
      { filename: "a/dusk.png", description: "A harbour", expiresAt },
      { search: "focus=0.25,0.5" },
    );
    const last = await site.piece(uploadPath(begun), 0, PNG);
    const { json } = await site.send("GET", `/api/images/${last.headers["X-Service-Image-Id"]}.json`);
    expect(json).toMatchObject({ name: "dusk.png", description: "A harbour", expiresAt, focus: [0.25, 0.5] });
  });

  test("DELETE removes the upload and its bytes", async () => {
    const path = uploadPath(await site.begin(SIZE));
    const before = await site.files();
    await site.piece(path, 0, PNG.subarray(0, 10));
    expect((await site.send("DELETE", path)).status).toBe(204);
    expect((await site.head(path)).status).toBe(404);
    expect((await site.files()).length).toBe(before.length - 1);
  });
});

test("a store that fails after the last byte loses nothing, and HEAD does not report success before the record exists", async () => {
  let isDown = false;
  const store = tapStore(createMemoryBlobStore(), ({ method, key }) => {
    if (isDown && method === "put" && key.endsWith("/record"))
      throw new ServiceError("store_unavailable", "down");
  });
  const site = createResumeSite({ store });
  const path = uploadPath(await site.begin(SIZE));
  isDown = true;
  expect((await site.piece(path, 0, PNG)).status).toBe(503);
  const locked = await site.head(path);
  expect([locked.status, locked.headers["Upload-Offset"]]).toEqual([423, undefined]);
  isDown = false;
  const found = await site.head(path);
  expect([found.status, found.headers["Upload-Offset"]]).toEqual([200, String(SIZE)]);
  expect(found.headers["X-Service-Image-Pin"]).toBeTruthy();
  expect((await keysOf(store)).filter((key) => key.endsWith("/record"))).toHaveLength(1);
});

test("an upload whose process died before the record was written becomes one image at the next HEAD", async () => {
  const store = createMemoryBlobStore();
  const site = createResumeSite({ store, renderer: createFakeRenderer(() => new Promise(() => {})) });
  const path = uploadPath(await site.begin(SIZE));
  void site.piece(path, 0, PNG);
  await expect.poll(site.files).toHaveLength(1);
  await expect
    .poll(async () => (await keysOf(store)).some((key) => key.startsWith("idempotency/")))
    .toBe(true);
  site.kill();
  const next = site.anotherNode({ renderer: createFakeRenderer(acceptAll) });
  expect((await next.head(path)).status).toBe(423);
  next.clock.now += MINUTE;
  const found = await next.head(path);
  expect([found.status, found.headers["Upload-Offset"]]).toEqual([200, String(SIZE)]);
  expect((await keysOf(store)).filter((key) => key.endsWith("/record"))).toHaveLength(1);
});

test("an image that takes long gets 202 with the record, and Prefer is applied", async () => {
  const site = createResumeSite();
  const path = uploadPath(await site.begin(SIZE));
  const last = await site.piece(path, 0, PNG, { headers: { prefer: "respond-async" } });
  expect([last.status, last.json.status]).toEqual([202, "processing"]);
  expect(last.headers).toMatchObject({
    "Preference-Applied": "respond-async",
    "Retry-After": "1",
    "Upload-Offset": String(SIZE),
  });
});
