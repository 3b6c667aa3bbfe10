import { setTimeout as delay } from "node:timers/promises";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { animatedGif, jpegPhoto } from "./support/pictures.ts";
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
