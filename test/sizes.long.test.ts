import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  animatedGif,
  emptyPdf,
  flatPsd,
  halfTransparentPng,
  jpegPhoto,
  svgDrawing,
} from "./support/pictures.ts";
import { addressOf, type Site, type SiteOptions, startSite, upload } from "./support/service.ts";

const presets = { thumb: { resize: "32x32" } };
/** One original of each type. */
const ORIGINALS = [
  ["PNG", "image/png", () => halfTransparentPng(300, 200)],
  ["JPEG", "image/jpeg", () => jpegPhoto(300, 200)],
  ["GIF", "image/gif", () => animatedGif()],
  ["SVG", "image/svg+xml", () => svgDrawing],
  ["PSD", "image/x-photoshop", () => flatPsd()],
  ["PDF", "application/pdf", () => emptyPdf()],
] as const;

async function startWith(options: SiteOptions): Promise<Site> {
  return startSite({ presets, ...options });
}

async function sizeAt(address: string): Promise<string> {
  const response = await fetch(address);
  if (response.status !== 200) throw new Error(`${address}: ${response.status} ${await response.text()}`);
  const { width, height } = await sharp(Buffer.from(await response.arrayBuffer())).metadata();
  return `${width}x${height}`;
}

describe("sizes that are signed", () => {
  let site: Site;
  let id: string;

  beforeAll(async () => {
    site = await startWith({ sizes: "signed" });
    id = (await upload(site, await jpegPhoto(1200, 900), "image/jpeg")).id;
  });
  afterAll(() => site.close());

  test("a signed address is served, and a changed one answers 403", async () => {
    const path = await site.images.address(id, { format: "png", resize: "100x" });
    expect(await sizeAt(site.base + path)).toBe("100x75");
    expect((await fetch(site.base + path, { method: "HEAD" })).status).toBe(200);
    const { headers } = await fetch(site.base + path);
    const tag = headers.get("etag") ?? "";
    expect((await fetch(site.base + path, { headers: { "If-None-Match": tag } })).status).toBe(304);
    const changed = site.base + path.replace("100x", "101x");
    for (const method of ["GET", "HEAD"]) {
      const refused = await fetch(changed, { method, headers: { "If-None-Match": tag } });
      expect([refused.status, refused.headers.get("cache-control")]).toEqual([403, "no-store"]);
    }
  });

  test("a size without a signature answers 403 and names the unsigned parameters", async () => {
    const response = await fetch(`${addressOf(site, id, "png")}?resize=100x`);
    expect(response.status).toBe(403);
    expect(response.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
    expect(await response.json()).toMatchObject({
      title: "Forbidden",
      detail:
        "resize, convert, page, fit, at and background need an address signed by the host. Without a signature, use preset=thumb.",
    });
  });

  test("a preset, a bare format, the record and the image URL need no signature", async () => {
    expect(await sizeAt(`${addressOf(site, id, "png")}?preset=thumb`)).toBe("32x24");
    for (const address of [addressOf(site, id, "webp"), addressOf(site, id, "json"), `${site.base}/${id}`]) {
      expect((await fetch(address)).status).toBe(200);
    }
  });

  test("an expired signed address answers 403", async () => {
    const until = Date.now() + 3_600_000;
    const path = await site.images.address(id, { format: "png", resize: "50x" }, { until });
    expect((await fetch(site.base + path)).status).toBe(200);
    const ended = await fetch(site.base + path.replace(String(until), String(Date.now() - 1)));
    expect(ended.status).toBe(403);
  });
});

describe.each(ORIGINALS)("a %s by steps", (_, type, original) => {
  let site: Site;
  let id: string;

  beforeAll(async () => {
    site = await startWith({ sizes: { steps: [10, 25, 60] } });
    id = (await upload(site, await original(), type)).id;
  });
  afterAll(() => site.close());

  const address = (rest: string) => addressOf(site, id, rest);
  test("an image has at most one rendition per step", async () => {
    const tags = new Set<string | null>();
    for (let side = 1; side <= 60; side += 7) {
      for (const box of [`${side}x`, `x${side}`, `${side}x90`]) {
        const response = await fetch(`${address("webp")}?resize=${box}`);
        await response.arrayBuffer();
        expect(response.status).toBe(200);
        tags.add(response.headers.get("etag"));
      }
    }
    expect(tags.size).toBeLessThanOrEqual(4);
  });
});
