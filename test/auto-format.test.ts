import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HOST_NAMES } from "./support/hosts.ts";
import { animatedGif, halfTransparentPng, jpegPhoto } from "./support/pictures.ts";
import { addressOf, bytesOf, type Site, startSite, upload } from "./support/service.ts";

const CHROME = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8";

describe.each(HOST_NAMES)(".auto in a host on %s", (host) => {
  let site: Site;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    site = await startSite({ host });
    ids.photo = (await upload(site, await jpegPhoto(300, 200), "image/jpeg")).id;
    ids.logo = (await upload(site, await halfTransparentPng(64, 32), "image/png")).id;
    ids.animation = (await upload(site, await animatedGif(3, 40, 30), "image/gif")).id;
  });
  afterAll(() => site.close());

  const get = (name: string, accept: string, headers: Record<string, string> = {}, method = "GET") => {
    const address = addressOf(site, ids[name] ?? "", "auto?resize=20x");
    return bytesOf(address, { method, headers: { Accept: accept, ...headers } });
  };

  test.each([
    ["photo", CHROME, "heif"],
    ["photo", "image/webp,*/*", "webp"],
    ["photo", "*/*", "jpeg"],
    ["logo", CHROME, "heif"],
    ["logo", "*/*", "png"],
    ["animation", CHROME, "webp"],
    ["animation", "*/*", "gif"],
  ])(
    "serves the %s for Accept %j as %s, with Vary, at first and from memory",
    async (name, accept, format) => {
      const tags = [];
      for (let round = 0; round < 2; round++) {
        const { response, bytes } = await get(name, accept);
        expect(response.status).toBe(200);
        expect(response.headers.get("vary")).toBe("Accept");
        const { pages = 1, ...metadata } = await sharp(bytes, { animated: true }).metadata();
        expect([metadata.format, metadata.width, pages]).toEqual([format, 20, name === "animation" ? 3 : 1]);
        expect(metadata.hasAlpha && name !== "animation").toBe(name === "logo");
        tags.push(response.headers.get("etag"));
        const head = await get(name, accept, {}, "HEAD");
        expect([head.response.headers.get("vary"), head.response.headers.get("etag")]).toEqual([
          "Accept",
          tags[0],
        ]);
        const again = await get(name, accept, { "If-None-Match": String(tags[0]) });
        expect([again.response.status, again.response.headers.get("vary")]).toEqual([304, "Accept"]);
      }
      expect(tags[0]).toBe(tags[1]);
    },
  );

  test("has another ETag per format, and Vary on 404 and 410", async () => {
    const etags = await Promise.all(
      ["image/avif", "image/webp", "*/*"].map(async (accept) =>
        (await get("photo", accept)).response.headers.get("etag"),
      ),
    );
    expect(new Set(etags).size).toBe(3);
    const { id, pin } = await upload(site, await jpegPhoto(30, 20), "image/jpeg");
    await fetch(addressOf(site, id, "json"), { method: "DELETE", headers: { "X-Service-Image-Pin": pin } });
    for (const [address, status] of [
      [addressOf(site, id, "auto"), 410],
      [addressOf(site, "A".repeat(22), "auto"), 404],
    ] as const) {
      const { response } = await bytesOf(address);
      expect([response.status, response.headers.get("vary")]).toEqual([status, "Accept"]);
    }
  });

  test("the record has the placeholder and the colour of the picture", async () => {
    const record = (await (await fetch(addressOf(site, ids.photo ?? "", "json"))).json()) as object;
    expect(record).toMatchObject({
      placeholder: expect.stringMatching(/^[A-Za-z0-9+/]{20,36}={0,2}$/),
      color: expect.stringMatching(/^#[0-9a-f]{6}$/),
    });
  });
});
