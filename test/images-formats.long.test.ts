import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { jpegPhoto } from "./support/pictures.ts";
import { addressOf, bytesOf, type Site, startSite, upload } from "./support/service.ts";

let site: Site;
let photo: Buffer;
beforeAll(async () => {
  site = await startSite();
  photo = await jpegPhoto(1200, 900);
});
afterAll(() => site.close());

test("GET returns the photograph in every format, size and quality", async () => {
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
    const { response, bytes } = await bytesOf(`${addressOf(site, id, "jpg")}?convert=${quality}&resize=600x`);
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
