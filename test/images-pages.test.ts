import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpegPhoto, svgDrawing } from "./support/pictures.ts";
import { type Created, type Site, startSite, upload } from "./support/service.ts";

describe("pages of an image", () => {
  let site: Site;
  let image: Created;
  const html = { Accept: "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8" };
  beforeAll(async () => {
    site = await startSite();
    image = await upload(site, await jpegPhoto(300, 200), "image/jpeg", { name: "<b>Hund & Katze</b>" });
  });
  afterAll(() => site.close());

  test("the image URL answers the viewer page where Accept prefers HTML, and the original otherwise", async () => {
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

  test("the edit page needs the PIN, is no-store without a referrer, and changes nothing on GET", async () => {
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
  test("without pages the image URL serves the original, and the viewer and edit pages answer 501", async () => {
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
