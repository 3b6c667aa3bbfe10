import { setTimeout as delay } from "node:timers/promises";
import type { ImageFormat, OriginalType } from "@outrigger/core";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOST_NAMES } from "./support/hosts.ts";
import {
  animatedGif,
  emptyPdf,
  flatPsd,
  halfTransparentPng,
  jpegPhoto,
  pngPhoto,
  svgDrawing,
} from "./support/pictures.ts";
import { addressOf, type Created, postImage, type Site, startSite, upload } from "./support/service.ts";

const ID = /^[A-Za-z0-9_-]{22}$/;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

async function bytesOf(url: string, init?: RequestInit): Promise<{ response: Response; bytes: Buffer }> {
  const response = await fetch(url, init);
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

describe.each(HOST_NAMES)("a photograph through %s", (host) => {
  let site: Site;
  let photo: Buffer;

  beforeAll(async () => {
    site = await startSite({ host });
    photo = await jpegPhoto(1200, 900);
  });
  afterAll(() => site.close());

  test("is created with 201 and every header of the document", async () => {
    const response = await request(site.origin)
      .post("/img/api/images.json")
      .set("User-Agent", "curl/8.5.0 (x86_64)")
      .attach("imagedata", photo, { filename: "Ferien — Sommer.jpg", contentType: "image/jpeg" });
    expect(response.status).toBe(201);
    expect(response.headers["content-type"]).toBe("application/json; charset=utf-8");
    const { id, pin, editUrl, url, ...record } = response.body;
    expect(id).toMatch(ID);
    expect(pin).toMatch(/^[0-9A-HJKMNP-TV-Z]{16}$/);
    expect(url).toBe(`${site.base}/${id}`);
    expect(editUrl).toBe(`${site.base}/${id}/edit?pin=${pin}`);
    expect(response.headers).toMatchObject({
      location: url,
      "x-service-image-url": url,
      "x-service-image-edit-url": editUrl,
      "x-service-image-pin": pin,
      "x-service-image-id": id,
      "cache-control": "no-store",
    });
    expect(response.headers.link).toContain(`<${site.base}/api/images/${id}.json>; rel="describedby"`);
    expect(response.headers.link).toContain(
      `<${site.base}/api/images/${id}.png>; rel="alternate"; type="image/png"`,
    );
    expect(response.headers.link).toContain(`<${editUrl}>; rel="edit-form"`);
    expect(record).toEqual({
      name: "Ferien — Sommer.jpg",
      type: "image/jpeg",
      size: photo.length,
      width: 1200,
      height: 900,
      pages: 1,
      status: "ready",
      agent: { name: "curl", version: "8.5.0" },
      createdAt: expect.stringMatching(ISO),
      updatedAt: record.createdAt,
      expiresAt: new Date(Date.parse(record.createdAt) + 86_400_000).toISOString(),
      links: Object.fromEntries(
        ["json", "png", "jpg", "gif", "svg", "psd", "pdf"].map((suffix) => [
          suffix,
          addressOf(site, id, suffix),
        ]),
      ),
    });
  });

  test("is created as text by the other suffix", async () => {
    const response = await postImage(site, photo, "image/jpeg", { name: "Nom" }, "txt");
    expect(response.status).toBe(201);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe(`${response.headers.get("location")}\n`);
  });

  test("comes back in every format, size and quality", async () => {
    const { id } = await upload(site, photo, "image/jpeg");
    const original = await bytesOf(addressOf(site, id, "jpg"));
    expect(original.bytes.equals(photo)).toBe(true);
    expect((await bytesOf(addressOf(site, id, "jpeg"))).bytes.equals(photo)).toBe(true);
    for (const [suffix, type] of [
      ["png", "image/png"],
      ["gif", "image/gif"],
      ["webp", "image/webp"],
      ["avif", "image/avif"],
    ] as const) {
      const { response, bytes } = await bytesOf(`${addressOf(site, id, suffix)}?resize=300x300`);
      expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
      const found = await sharp(bytes).metadata();
      expect([found.width, found.height]).toEqual([300, 225]);
      expect(found.format).toBe(suffix === "avif" ? "heif" : suffix);
    }
    const sizes: number[] = [];
    for (const quality of ["low", "medium", "high", "max"]) {
      const { response, bytes } = await bytesOf(
        `${addressOf(site, id, "jpg")}?convert=${quality}&resize=600x`,
      );
      expect(response.headers.get("content-type")).toBe("image/jpeg");
      expect((await sharp(bytes).metadata()).width).toBe(600);
      sizes.push(bytes.length);
    }
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(new Set(sizes).size).toBe(4);
    for (const [resize, width] of [
      ["100x", 100],
      ["x90", 120],
      ["640x480", 640],
      ["5000x5000", 1200],
    ] as const) {
      const { bytes } = await bytesOf(`${addressOf(site, id, "png")}?resize=${resize}`);
      expect((await sharp(bytes).metadata()).width).toBe(width);
    }
  });

  test("is deleted by its PIN, and by nothing less", async () => {
    const { id, pin } = await upload(site, photo, "image/jpeg");
    expect((await fetch(addressOf(site, id, "json"), { method: "DELETE" })).status).toBe(403);
    expect(
      (await fetch(`${addressOf(site, id, "json")}?pin=${"0".repeat(16)}`, { method: "DELETE" })).status,
    ).toBe(403);
    expect((await fetch(addressOf(site, id, "jpg"))).status).toBe(200);
    expect((await fetch(`${addressOf(site, id, "json")}?pin=${pin}`, { method: "DELETE" })).status).toBe(204);
    for (const address of ["json", "jpg", "png"].map((suffix) => addressOf(site, id, suffix))) {
      expect((await fetch(address)).status).toBe(410);
    }
    expect((await fetch(`${site.base}/${id}`)).status).toBe(410);
    expect((await fetch(`${addressOf(site, id, "json")}?pin=${pin}`, { method: "DELETE" })).status).toBe(410);
  });

  test("leaves the host's own routes alone", async () => {
    // A bare server has no routes of its own.
    if (host === "node:http") expect((await fetch(`${site.origin}/host`)).status).toBe(404);
    else expect(await (await fetch(`${site.origin}/host`)).text()).toBe("the host's own");
    expect((await fetch(`${site.base}/AAAAAAAAAAAAAAAAAAAAAA`)).status).toBe(404);
    expect((await fetch(`${site.base}/unknown`)).status).toBe(404);
  });

  test("had no failure that nobody expected", () => {
    expect(site.errors).toEqual([]);
  });
});

describe("the image record", () => {
  let site: Site;
  beforeAll(async () => {
    site = await startSite();
  });
  afterAll(() => site.close());

  test("is read, revalidated and edited", async () => {
    const { id, pin } = await upload(site, await pngPhoto(), "image/png", { fileName: "a.png" });
    const first = await fetch(addressOf(site, id, "json"));
    const record = (await first.json()) as Created;
    expect(first.headers.get("cache-control")).toBe("no-store");
    expect(record).not.toHaveProperty("pin");
    expect(record).not.toHaveProperty("editUrl");
    expect(record).toMatchObject({ id, name: "a.png", width: 400, height: 300, status: "ready" });
    const etag = first.headers.get("etag") ?? "";
    const again = await fetch(addressOf(site, id, "json"), { headers: { "If-None-Match": etag } });
    expect(again.status).toBe(304);

    const expiresAt = Date.now() + 3_600_000;
    const patched = await request(site.base)
      .patch(`/api/images/${id}.json`)
      .set("X-Service-Image-Pin", pin)
      .set("If-Match", etag)
      .send({ name: "neu", expiresAt });
    expect(patched.status).toBe(200);
    expect(patched.body).toMatchObject({ id, name: "neu", expiresAt: new Date(expiresAt).toISOString() });
    expect(Date.parse(patched.body.updatedAt)).toBeGreaterThan(Date.parse(String(record.createdAt)));
    const stale = await request(site.base)
      .patch(`/api/images/${id}.json`)
      .set("If-Match", etag)
      .send({ name: "verloren", pin });
    expect(stale.status).toBe(412);
    expect(((await (await fetch(addressOf(site, id, "json"))).json()) as Created).name).toBe("neu");
  });

  test("is edited by JSON, form and query; refused without PIN, without change, or with nonsense", async () => {
    const { id, pin } = await upload(site, await pngPhoto(), "image/png");
    const path = `/api/images/${id}.json`;
    const patch = (body: string | object, type = "application/json", query = "") =>
      request(site.base)
        .patch(path + query)
        .set("Content-Type", type)
        .send(body);
    expect((await patch({ name: "json", pin })).body.name).toBe("json");
    expect((await patch(`name=form&pin=${pin}`, "application/x-www-form-urlencoded")).body.name).toBe("form");
    expect((await patch({ pin }, "application/json", "?name=query")).body.name).toBe("query");
    expect((await patch({ name: "body", pin }, "application/json", "?name=query")).body.name).toBe("body");
    for (const [body, status] of [
      [{ name: "x" }, 403],
      [{ name: "x", pin: "0000000000000000" }, 403],
      [{ name: "x", pin: 5 }, 403],
      [{ pin }, 400],
      [{ pin, name: "" }, 400],
      [{ pin, name: 5 }, 400],
      [{ pin, name: "x".repeat(256) }, 400],
      [{ pin, expiresAt: "gestern" }, 400],
      [{ pin, expiresAt: 1 }, 400],
      [{ pin, expiresAt: Date.now() + 400 * 86_400_000 }, 400],
      ["{", 400],
      ["[]", 400],
      [{ pin, name: "x", filler: "x".repeat(20_000) }, 413],
    ] as const) {
      const response = await patch(body);
      expect([JSON.stringify(body).slice(0, 60), response.status]).toEqual([
        JSON.stringify(body).slice(0, 60),
        status,
      ]);
      expect(response.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
      expect(response.body).toMatchObject({
        type: "about:blank",
        status,
        title: expect.any(String),
        detail: expect.any(String),
      });
    }
  });

  test("of two edits at once without If-Match, at least one wins and the other is told", async () => {
    const { id, pin } = await upload(site, await pngPhoto(), "image/png");
    const edits = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        request(site.base)
          .patch(`/api/images/${id}.json`)
          .send({ pin, name: `edit ${index}` }),
      ),
    );
    const statuses = edits.map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 409)).toBe(true);
    const names = edits.filter(({ status }) => status === 200).map(({ body }) => body.name);
    expect(names).toContain(((await (await fetch(addressOf(site, id, "json"))).json()) as Created).name);
  });
});

describe("reading bytes", () => {
  let site: Site;
  let photo: Buffer;
  let image: Created;
  beforeAll(async () => {
    site = await startSite();
    photo = await jpegPhoto(1000, 800);
    image = await upload(site, photo, "image/jpeg", { fileName: 'Grüße "Süd".jpg' });
  });
  afterAll(() => site.close());

  test("carries what caches and browsers must know", async () => {
    const { response } = await bytesOf(`${addressOf(site, image.id, "png")}?resize=50x`);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "image/png",
      etag: expect.stringMatching(/^"[\x21\x23-\x7e]+"$/),
      "last-modified": new Date(Math.floor(Date.parse(String(image.createdAt)) / 1000) * 1000).toUTCString(),
      "cache-control": "public, max-age=300, must-revalidate, no-transform",
      sunset: new Date(Date.parse(String(image.expiresAt))).toUTCString(),
      "accept-ranges": "bytes",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
      "cross-origin-resource-policy": "cross-origin",
      "content-disposition":
        'inline; filename="Gr??e \\"S?d\\".png"; filename*=UTF-8\'\'Gr%C3%BC%C3%9Fe%20%22S%C3%BCd%22.png',
    });
  });

  test("answers conditional requests before it renders", async () => {
    const url = `${addressOf(site, image.id, "webp")}?resize=77x`;
    const { response } = await bytesOf(url);
    const etag = response.headers.get("etag") ?? "";
    const modified = response.headers.get("last-modified") ?? "";
    const status = async (headers: Record<string, string>) => (await fetch(url, { headers })).status;
    expect(await status({ "If-None-Match": etag })).toBe(304);
    expect(await status({ "If-Modified-Since": modified })).toBe(304);
    expect(await status({ "If-None-Match": '"other"', "If-Modified-Since": modified })).toBe(200);
    expect(await status({ "If-Match": '"other"' })).toBe(412);
    expect(await status({ "If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT" })).toBe(412);
    const unchanged = await fetch(url, { headers: { "If-None-Match": etag } });
    expect(unchanged.headers.get("etag")).toBe(etag);
    expect(unchanged.headers.get("cache-control")).toContain("max-age=300");
    expect(await unchanged.text()).toBe("");
    const other = await fetch(`${addressOf(site, image.id, "webp")}?resize=78x`, {
      headers: { "If-None-Match": etag },
    });
    expect(other.status).toBe(200);
  });

  test.each(["jpg", "png"])("serves ranges of .%s", async (suffix) => {
    const url = addressOf(site, image.id, suffix);
    const { bytes: whole, response } = await bytesOf(url);
    const part = async (headers: Record<string, string>) => bytesOf(url, { headers });
    const middle = await part({ Range: "bytes=100-199" });
    expect(middle.response.status).toBe(206);
    expect(middle.response.headers.get("content-range")).toBe(`bytes 100-199/${whole.length}`);
    expect(middle.bytes.equals(whole.subarray(100, 200))).toBe(true);
    expect((await part({ Range: "bytes=-10" })).bytes.equals(whole.subarray(-10))).toBe(true);
    expect((await part({ Range: `bytes=${whole.length - 1}-` })).bytes.equals(whole.subarray(-1))).toBe(true);
    const beyond = await part({ Range: `bytes=${whole.length}-` });
    expect(beyond.response.status).toBe(416);
    expect(beyond.response.headers.get("content-range")).toBe(`bytes */${whole.length}`);
    expect((await part({ Range: "bytes=0-1,5-6" })).response.status).toBe(200);
    const etag = response.headers.get("etag") ?? "";
    expect((await part({ Range: "bytes=0-9", "If-Range": etag })).response.status).toBe(206);
    expect((await part({ Range: "bytes=0-9", "If-Range": '"old"' })).bytes.equals(whole)).toBe(true);
  });

  test("HEAD of a rendition that is made has the headers of GET and no body", async () => {
    const url = `${addressOf(site, image.id, "png")}?resize=61x`;
    const get = await bytesOf(url);
    const head = await bytesOf(url, { method: "HEAD" });
    const headersOf = ({ response }: { response: Response }) =>
      Object.fromEntries(
        [...response.headers].filter(([name]) => !["date", "connection", "keep-alive"].includes(name)),
      );
    expect(head.bytes.length).toBe(0);
    expect(headersOf(head)).toEqual(headersOf(get));
    expect(get.response.headers.get("content-length")).toBe(String(get.bytes.length));
  });

  test("takes parameters from a JSON body, which wins over the query and keeps caches out", async () => {
    const response = await request(site.base)
      .get(`/api/images/${image.id}.png?resize=10x`)
      .set("Content-Type", "application/json")
      .send({ resize: "20x" })
      .buffer(true)
      .parse((res, done) => {
        const chunks: Buffer[] = [];
        res
          .on("data", (chunk: Buffer) => chunks.push(chunk))
          .on("end", () => done(null, Buffer.concat(chunks)));
      });
    expect(response.status).toBe(200);
    expect((await sharp(response.body).metadata()).width).toBe(20);
    expect(response.headers["cache-control"]).toBe("no-store");
  });

  test.each([
    ["resize=0x10", "png"],
    ["resize=9000x10", "png"],
    ["resize=abc", "png"],
    ["resize=%ff", "png"],
    ["convert=best", "jpg"],
    ["page=2", "png"],
    ["page=0", "png"],
  ])("refuses ?%s with a reason", async (query, suffix) => {
    const response = await fetch(`${addressOf(site, image.id, suffix)}?${query}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { detail: string }).detail).toMatch(/resize|convert|page|UTF-8/);
  });

  test("ignores parameters that it does not know, and convert where it means nothing", async () => {
    expect(
      (await fetch(`${addressOf(site, image.id, "png")}?resize=30x&colour=blue&convert=best`)).status,
    ).toBe(200);
    expect((await fetch(`${addressOf(site, image.id, "jpg")}?resize=&convert=`)).status).toBe(200);
  });

  test("puts transparency on white in JPEG, and keeps it elsewhere", async () => {
    const { id } = await upload(site, await halfTransparentPng(), "image/png");
    const jpg = await bytesOf(addressOf(site, id, "jpg"));
    const { data, info } = await sharp(jpg.bytes).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(3);
    expect(Math.min(data[0] ?? 0, data[1] ?? 0, data[2] ?? 0)).toBeGreaterThan(245);
    const webp = await bytesOf(addressOf(site, id, "webp"));
    expect((await sharp(webp.bytes).metadata()).hasAlpha).toBe(true);
  });

  test("keeps an animation from GIF to GIF and webp, and takes its first frame elsewhere", async () => {
    const { id, pages } = await upload(site, await animatedGif(5), "image/gif");
    expect(pages).toBe(5);
    const gif = await sharp((await bytesOf(`${addressOf(site, id, "gif")}?resize=40x`)).bytes, {
      animated: true,
    }).metadata();
    expect([gif.pages, gif.width, gif.delay]).toEqual([5, 40, [100, 100, 100, 100, 100]]);
    expect(
      (await sharp((await bytesOf(addressOf(site, id, "webp"))).bytes, { animated: true }).metadata()).pages,
    ).toBe(5);
    expect((await sharp((await bytesOf(addressOf(site, id, "png"))).bytes).metadata()).pages ?? 1).toBe(1);
  });

  test("stands a photograph upright by its EXIF orientation", async () => {
    const lying = await sharp(await jpegPhoto(200, 100))
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const record = await upload(site, lying, "image/jpeg");
    expect([record.width, record.height]).toEqual([100, 200]);
    const png = await sharp(
      (await bytesOf(`${addressOf(site, record.id, "png")}?resize=50x`)).bytes,
    ).metadata();
    expect([png.width, png.height]).toEqual([50, 100]);
  });

  test("draws an SVG at the size that is asked for", async () => {
    const { id } = await upload(site, svgDrawing, "image/svg+xml");
    const png = await sharp((await bytesOf(`${addressOf(site, id, "png")}?resize=1200x`)).bytes).metadata();
    expect([png.width, png.height]).toEqual([1200, 800]);
    const own = await bytesOf(addressOf(site, id, "svg"));
    expect(own.response.headers.get("content-type")).toBe("image/svg+xml");
    expect(own.response.headers.get("content-security-policy")).toContain("sandbox");
  });

  test.each([
    ["image/x-photoshop", "psd", flatPsd()],
    ["image/vnd.adobe.photoshop", "psd", flatPsd()],
    ["application/pdf", "pdf", emptyPdf()],
  ])("stores %s and serves it back as itself, to be saved", async (type, suffix, bytes) => {
    const { id } = await upload(site, bytes, type, { fileName: `plan.${suffix}` });
    const back = await bytesOf(addressOf(site, id, suffix));
    expect(back.bytes.equals(bytes)).toBe(true);
    expect(back.response.headers.get("content-type")).toBe(
      suffix === "psd" ? "image/x-photoshop" : "application/pdf",
    );
    expect(back.response.headers.get("content-disposition")).toBe(`attachment; filename="plan.${suffix}"`);
  });

  test("answers 501 for a format whose renderer is not installed", async () => {
    const renderer = createRenderer();
    const canRender = (_type: OriginalType, format: ImageFormat) => format !== "psd" && format !== "pdf";
    const lacking = await startSite({ renderer: { ...renderer, canRender } });
    try {
      const { id } = await upload(lacking, await pngPhoto(), "image/png");
      for (const suffix of ["psd", "pdf"]) {
        const response = await fetch(addressOf(lacking, id, suffix));
        expect([suffix, response.status]).toEqual([suffix, 501]);
      }
    } finally {
      await lacking.close();
    }
  });

  test("renders once for any number of simultaneous requests, and a leaving client harms no other", async () => {
    const { id } = await upload(site, await jpegPhoto(2400, 1800), "image/jpeg");
    const url = `${addressOf(site, id, "png")}?resize=1500x`;
    const leaving = new AbortController();
    const left = fetch(url, { signal: leaving.signal }).catch((error: Error) => error.name);
    const others = Array.from({ length: 12 }, () => bytesOf(url));
    await delay(20);
    leaving.abort();
    expect(await left).toBe("AbortError");
    const etags = (await Promise.all(others)).map(({ response, bytes }) => [response.status, bytes.length]);
    expect(new Set(etags.map(String)).size).toBe(1);
    expect(etags[0]?.[0]).toBe(200);
  });

  test("had no failure that nobody expected", () => {
    expect(site.errors).toEqual([]);
  });
});

describe("life and limits", () => {
  test("after its expiry every address answers 410, conditional and partial requests too", async () => {
    let now = Date.now();
    const site = await startSite({ now: () => now });
    try {
      const photo = await jpegPhoto(300, 200);
      const { id, pin } = await upload(site, photo, "image/jpeg", {
        expiresAt: new Date(now + 5_000).toISOString(),
      });
      const url = addressOf(site, id, "jpg");
      const fresh = await fetch(url);
      expect(fresh.headers.get("cache-control")).toBe("public, max-age=5, must-revalidate, no-transform");
      const etag = fresh.headers.get("etag") ?? "";
      await fetch(`${addressOf(site, id, "png")}?resize=20x`);
      now += 5_000;
      for (const address of [
        url,
        addressOf(site, id, "json"),
        `${addressOf(site, id, "png")}?resize=20x`,
        addressOf(site, id, "webp"),
        `${site.base}/${id}`,
        `${site.base}/${id}/view`,
        `${site.base}/${id}/edit?pin=${pin}`,
      ]) {
        expect([address, (await fetch(address)).status]).toEqual([address, 410]);
      }
      expect((await fetch(url, { headers: { "If-None-Match": etag } })).status).toBe(410);
      expect((await fetch(url, { headers: { Range: "bytes=0-1" } })).status).toBe(410);
      expect((await fetch(url, { method: "HEAD" })).status).toBe(410);
      const edit = await request(site.base).patch(`/api/images/${id}.json`).send({ name: "x", pin });
      expect(edit.status).toBe(410);
      const wrongPin = await request(site.base)
        .patch(`/api/images/${id}.json`)
        .send({ name: "x", pin: "no" });
      expect(wrongPin.status).toBe(410);
    } finally {
      await site.close();
    }
  });

  test("wrong PINs are limited per client, the right one too while the limit holds", async () => {
    const site = await startSite({
      rateLimits: { pinFailures: 3, edits: false, creates: false, reads: false },
    });
    try {
      const { id, pin } = await upload(site, svgDrawing, "image/svg+xml");
      const remove = (given: string) =>
        fetch(`${addressOf(site, id, "json")}?pin=${given}`, { method: "DELETE" });
      for (let attempt = 0; attempt < 3; attempt++) expect((await remove("1234")).status).toBe(403);
      const refused = await remove(pin);
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(refused.headers.get("ratelimit-policy")).toBe('"pinFailures";q=3;w=60');
      expect(refused.headers.get("ratelimit")).toMatch(/^"pinFailures";r=0;t=\d+$/);
      expect((await fetch(addressOf(site, id, "svg"))).status).toBe(200);
    } finally {
      await site.close();
    }
  });

  test("creates are limited per client", async () => {
    const site = await startSite({ rateLimits: { creates: 2 } });
    try {
      const statuses = [];
      for (let attempt = 0; attempt < 3; attempt++)
        statuses.push((await postImage(site, svgDrawing, "image/svg+xml")).status);
      expect(statuses).toEqual([201, 201, 429]);
    } finally {
      await site.close();
    }
  });

  test("a file over maxUploadBytes gets 413, and nothing of it stays", async () => {
    const site = await startSite({ maxUploadBytes: 10_000 });
    try {
      const response = await postImage(site, Buffer.alloc(200_000, 0xff), "image/jpeg");
      expect(response.status).toBe(413);
      expect(response.headers.get("connection")).toBe("close");
    } finally {
      await site.close();
    }
  });
});

describe("the contract's errors", () => {
  let site: Site;
  let id: string;
  beforeAll(async () => {
    site = await startSite();
    ({ id } = await upload(site, svgDrawing, "image/svg+xml"));
  });
  afterAll(() => site.close());

  test.each([
    ["GET", "/api/images.json", 405, "POST, OPTIONS"],
    ["PUT", "/api/images.json", 405, "POST, OPTIONS"],
    ["POST", "/api/images/ID.json", 405, "GET, HEAD, PATCH, DELETE, OPTIONS"],
    ["DELETE", "/api/images/ID.png", 405, "GET, HEAD, OPTIONS"],
    ["PUT", "/ID/edit", 405, "GET, HEAD, POST, OPTIONS"],
    ["OPTIONS", "/api/images/ID.json", 204, "GET, HEAD, PATCH, DELETE, OPTIONS"],
    ["POST", "/api/images.xml", 415, undefined],
    ["GET", "/api/images/ID.bmp", 415, undefined],
    ["GET", "/api/images/ID", 404, undefined],
    ["GET", "/api/images", 404, undefined],
    ["GET", "/api/images/AAAAAAAAAAAAAAAAAAAAAA.png", 404, undefined],
    ["GET", "/api/images/..%2f..%2fsecret.json", 404, undefined],
    ["GET", "/api/images/ID.json/", 200, undefined],
  ])("%s %s answers %i", async (method, path, status, allow) => {
    const response = await request(site.base)[method.toLowerCase() as "get"](path.replace("ID", id));
    expect(response.status).toBe(status);
    expect(response.headers.allow).toBe(allow);
  });

  test("a request that did not come over SSL is refused, unless it comes from this machine itself", async () => {
    for (const [tls, headers, status] of [
      ["required", {}, 200],
      ["required", { "X-Forwarded-For": "203.0.113.7" }, 403],
      ["required", { Via: "1.1 proxy" }, 403],
      ["always", {}, 403],
      ["off", { "X-Forwarded-For": "203.0.113.7" }, 200],
    ] as const) {
      const strict = await startSite({ tls, host: "Koa 3" });
      try {
        const probe = await fetch(`${strict.base}/api/images.json`, { method: "OPTIONS", headers });
        expect([tls, headers, probe.status]).toEqual([tls, headers, status === 200 ? 204 : status]);
        if (status === 403) expect(((await probe.json()) as { detail: string }).detail).toContain("SSL");
      } finally {
        await strict.close();
      }
    }
  });

  test("a host that is not allowed gets 400; publicUrl makes the addresses", async () => {
    const strict = await startSite({
      allowedHosts: ["pictures.example"],
      publicUrl: "https://pictures.example/p/",
    });
    try {
      expect((await fetch(`${strict.base}/api/images.json`, { method: "OPTIONS" })).status).toBe(400);
      const response = await request(strict.base)
        .post("/api/images.txt")
        .set("Host", "pictures.example")
        .set("User-Agent", "x")
        .attach("imagedata", svgDrawing, { filename: "a.svg", contentType: "image/svg+xml" });
      expect(response.text).toMatch(/^https:\/\/pictures\.example\/p\/[\w-]{22}\n$/);
    } finally {
      await strict.close();
    }
  });

  test("what only looks like an ID is the host's, whatever the method and the connection", async () => {
    const strict = await startSite({ tls: "always", rateLimits: { reads: 1, edits: 1 } });
    try {
      // 22 characters, as an ID has.
      const slug = "/terms-and-conditions-1";
      for (const path of [slug, `${slug}/view`, `${slug}/edit`]) {
        for (const method of ["GET", "POST", "DELETE", "OPTIONS"]) {
          const { status, headers } = await fetch(`${strict.base}${path}`, { method });
          expect([method, path, status, headers.get("allow")]).toEqual([method, path, 404, null]);
        }
      }
    } finally {
      await strict.close();
    }
  });

  test("an unknown image below the mount point is the host's to answer", async () => {
    const response = await fetch(`${site.base}/AAAAAAAAAAAAAAAAAAAAAA`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain("Cannot GET");
  });
});

describe("pages", () => {
  let site: Site;
  let image: Created;
  const html = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8" };
  beforeAll(async () => {
    site = await startSite();
    image = await upload(site, await jpegPhoto(300, 200), "image/jpeg", { name: "<b>Hund & Katze</b>" });
  });
  afterAll(() => site.close());

  test("the image URL shows the viewer to those who prefer HTML, the original to others", async () => {
    const page = await fetch(image.url, { headers: html });
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("vary")).toBe("Accept");
    const text = await page.text();
    expect(text).toContain("OutriggerTest");
    expect(text).toContain("&lt;b&gt;Hund");
    expect(text).not.toContain("<b>Hund");
    expect(text).not.toContain(image.pin);
    for (const Accept of ["*/*", "image/avif,image/webp,*/*", "image/jpeg"]) {
      const bytes = await fetch(image.url, { headers: { Accept } });
      expect([Accept, bytes.headers.get("content-type")]).toEqual([Accept, "image/jpeg"]);
      expect(bytes.headers.get("cache-control")).toBe("no-cache");
    }
    expect((await fetch(`${image.url}/view`)).headers.get("content-type")).toBe("text/html; charset=utf-8");
  });

  test("the edit page opens by PIN alone, is kept nowhere, and changes nothing by GET", async () => {
    const denied = await fetch(`${image.url}/edit`, { headers: html });
    expect(denied.status).toBe(403);
    expect(denied.headers.get("content-type")).toBe("text/html; charset=utf-8");
    const page = await fetch(image.editUrl, { headers: html });
    expect(page.status).toBe(200);
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    expect((await fetch(`${image.editUrl}&action=delete&confirm=on`)).status).toBe(200);
    expect((await fetch(image.url)).status).toBe(200);
  });

  test("the form renames, prolongs and deletes", async () => {
    const post = (fields: Record<string, string>) =>
      fetch(`${image.url}/edit`, {
        method: "POST",
        redirect: "manual",
        body: new URLSearchParams({ pin: image.pin, ...fields }),
        headers: html,
      });
    const renamed = await post({ action: "update", name: "Umbenannt", expiresIn: "3600000" });
    expect(renamed.status).toBe(303);
    const next = await fetch(renamed.headers.get("location") ?? "");
    expect(await next.text()).toContain("Umbenannt");
    const record = (await (await fetch(addressOf(site, image.id, "json"))).json()) as Created;
    expect(record.name).toBe("Umbenannt");
    expect(Math.abs(Date.parse(String(record.expiresAt)) - Date.now() - 3_600_000)).toBeLessThan(60_000);
    const refused = await post({ action: "update", name: "x", expiresAt: "irgendwann" });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("expiresAt");
    expect((await post({ action: "delete" })).status).toBe(400);
    expect((await post({ action: "delete", confirm: "on", pin: "wrong" })).status).toBe(403);
    expect((await fetch(image.url)).status).toBe(200);
    const removed = await post({ action: "delete", confirm: "on" });
    expect(removed.status).toBe(303);
    expect(removed.headers.get("location")).not.toContain(image.pin);
    const gone = await fetch(removed.headers.get("location") ?? "", { headers: html });
    expect([gone.status, gone.headers.get("content-type")]).toEqual([410, "text/html; charset=utf-8"]);
  });

  test("without pages the middleware serves no HTML", async () => {
    const bare = await startSite({ pages: false });
    try {
      const { url, editUrl } = await upload(bare, svgDrawing, "image/svg+xml");
      expect((await fetch(url, { headers: html })).headers.get("content-type")).toBe("image/svg+xml");
      expect((await fetch(`${url}/view`, { headers: html })).status).toBe(501);
      expect((await fetch(editUrl, { headers: html })).status).toBe(501);
    } finally {
      await bare.close();
    }
  });
});
