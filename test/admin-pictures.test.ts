import { createAdminPages } from "@outrigger/web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startHost } from "./support/hosts.ts";
import type { Host } from "./support/listen.ts";
import { jpegPhoto } from "./support/pictures.ts";
import { startSite } from "./support/quick-site.ts";
import { addressOf, type Site, upload } from "./support/service.ts";

const SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><script>alert(1)</script><rect width="40" height="40" fill="red"/></svg>`;

let site: Site;
let admin: Host;
let photo: Buffer;

beforeAll(async () => {
  [photo, site] = await Promise.all([jpegPhoto(100, 80), startSite()]);
  const pages = createAdminPages({ images: site.images, authorize: () => true });
  admin = await startHost("Express 5", pages, "/admin/images");
});
afterAll(async () => {
  await admin.close();
  await site.close();
});

const mine = async () => (await upload(site, photo, "image/jpeg")).id;
const statusOf = async (id: string) => (await fetch(addressOf(site, id, "jpg"))).status;

describe("a picture", () => {
  test("of a withheld image comes from this page alone, for no cache, and leaves nothing in memory", async () => {
    const id = await mine();
    await fetch(addressOf(site, id, "jpg?resize=480x480"));
    await site.images.withhold(id, { reason: "A claim." });
    const reply = await fetch(`${admin.base}/${id}.jpg`);
    expect(reply.status).toBe(200);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "cache-control": "private, no-store",
      "content-type": "image/jpeg",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
    });
    expect([reply.headers.get("cache-tag"), reply.headers.get("etag")]).toEqual([null, null]);
    expect((await reply.arrayBuffer()).byteLength).toBeGreaterThan(100);
    expect(await statusOf(id)).toBe(451);
  });

  test("of an SVG is a raster picture, never its source", async () => {
    const { id } = await upload(site, Buffer.from(SVG), "image/svg+xml");
    await site.images.withhold(id, { reason: "A claim." });
    const reply = await fetch(`${admin.base}/${id}.jpg?large`);
    expect(reply.headers.get("content-type")).toBe("image/jpeg");
    expect(
      Buffer.from(await reply.arrayBuffer())
        .subarray(0, 2)
        .toString("hex"),
    ).toBe("ffd8");
    expect((await fetch(`${admin.base}/${id}.svg`)).status).toBe(404);
  });

  test("of an unknown or deleted image, and of a page out of range, is an error page and no failure", async () => {
    const id = await mine();
    await site.images.remove(id);
    expect((await fetch(`${admin.base}/${id}.jpg`)).status).toBe(410);
    expect((await fetch(`${admin.base}/${"x".repeat(22)}.jpg`)).status).toBe(404);
    expect((await fetch(`${admin.base}/${await mine()}.jpg?page=abc`)).status).toBe(400);
  });
});

test("createAdminPages throws a TypeError without authorize and without images", () => {
  expect(() => createAdminPages({ images: site.images } as never)).toThrow("authorize");
  expect(() => createAdminPages({ authorize: () => true } as never)).toThrow("images");
});
