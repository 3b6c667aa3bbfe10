import { setTimeout as delay } from "node:timers/promises";
import type { ImageFormat, OriginalType } from "@outrigger/core/images";
import { createRenderer } from "@outrigger/imaging";
import sharp from "sharp";
import request from "supertest";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  animatedGif,
  emptyPdf,
  flatPsd,
  halfTransparentPng,
  jpegPhoto,
  pngPhoto,
  svgDrawing,
} from "./support/pictures.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "./support/service.ts";

describe("GET of image bytes", () => {
  let site: Site;
  let photo: Buffer;
  let image: Created;
  beforeAll(async () => {
    site = await startSite();
    photo = await jpegPhoto(1000, 800);
    image = await upload(site, photo, "image/jpeg", { fileName: 'Grüße "Süd".jpg' });
  });
  afterAll(() => site.close());

  test("sends the headers that caches and browsers need", async () => {
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

  test("answers conditional requests with 304 or 412", async () => {
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

  test.each(["jpg", "png"])(
    "serves byte ranges of .%s, 416 beyond the end, and honours If-Range",
    async (suffix) => {
      const url = addressOf(site, image.id, suffix);
      const { bytes: whole, response } = await bytesOf(url);
      const part = async (headers: Record<string, string>) => bytesOf(url, { headers });
      const middle = await part({ Range: "bytes=100-199" });
      expect(middle.response.status).toBe(206);
      expect(middle.response.headers.get("content-range")).toBe(`bytes 100-199/${whole.length}`);
      expect(middle.bytes.equals(whole.subarray(100, 200))).toBe(true);
      expect((await part({ Range: "bytes=-10" })).bytes.equals(whole.subarray(-10))).toBe(true);
      expect((await part({ Range: `bytes=${whole.length - 1}-` })).bytes.equals(whole.subarray(-1))).toBe(
        true,
      );
      const beyond = await part({ Range: `bytes=${whole.length}-` });
      expect(beyond.response.status).toBe(416);
      expect(beyond.response.headers.get("content-range")).toBe(`bytes */${whole.length}`);
      expect((await part({ Range: "bytes=0-1,5-6" })).response.status).toBe(200);
      const etag = response.headers.get("etag") ?? "";
      expect((await part({ Range: "bytes=0-9", "If-Range": etag })).response.status).toBe(206);
      expect((await part({ Range: "bytes=0-9", "If-Range": '"old"' })).bytes.equals(whole)).toBe(true);
    },
  );

  test("HEAD of a stored rendition has the headers of GET and no body", async () => {
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

  test("takes parameters from a JSON body, which overrides the query and makes the response no-store", async () => {
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
  ])("answers 400 for ?%s and names the reason", async (query, suffix) => {
    const response = await fetch(`${addressOf(site, image.id, suffix)}?${query}`);
    expect(response.status).toBe(400);
    expect(((await response.json()) as { detail: string }).detail).toMatch(/resize|convert|page|UTF-8/);
  });

  test("ignores unknown parameters, empty values, and convert for a format without quality", async () => {
    expect(
      (await fetch(`${addressOf(site, image.id, "png")}?resize=30x&colour=blue&convert=best`)).status,
    ).toBe(200);
    expect((await fetch(`${addressOf(site, image.id, "jpg")}?resize=&convert=`)).status).toBe(200);
  });

  test("flattens transparency onto white in JPEG and keeps it in WebP", async () => {
    const { id } = await upload(site, await halfTransparentPng(), "image/png");
    const jpg = await bytesOf(addressOf(site, id, "jpg"));
    const { data, info } = await sharp(jpg.bytes).raw().toBuffer({ resolveWithObject: true });
    expect(info.channels).toBe(3);
    expect(Math.min(data[0] ?? 0, data[1] ?? 0, data[2] ?? 0)).toBeGreaterThan(245);
    const webp = await bytesOf(addressOf(site, id, "webp"));
    expect((await sharp(webp.bytes).metadata()).hasAlpha).toBe(true);
  });

  test("keeps the animation of a GIF in GIF and WebP, and renders its first frame in PNG", async () => {
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

  test("rotates a photograph by its EXIF orientation", async () => {
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

  test("renders an SVG at the requested size and serves the SVG itself in a sandbox", async () => {
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
  ])("stores %s and returns the same bytes as an attachment", async (type, suffix, bytes) => {
    const { id } = await upload(site, bytes, type, { fileName: `plan.${suffix}` });
    const back = await bytesOf(addressOf(site, id, suffix));
    expect(back.bytes.equals(bytes)).toBe(true);
    expect(back.response.headers.get("content-type")).toBe(
      suffix === "psd" ? "image/x-photoshop" : "application/pdf",
    );
    expect(back.response.headers.get("content-disposition")).toBe(`attachment; filename="plan.${suffix}"`);
  });

  test("answers 501 for a format that the renderer cannot write", async () => {
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

  test("gives simultaneous requests for one rendition the same answer, though one client disconnects", async () => {
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

  test("no request in these tests reported an error to onError", () => {
    expect(site.errors).toEqual([]);
  });
});
