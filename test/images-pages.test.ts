import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { jpegPhoto, svgDrawing } from "./support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "./support/service.ts";

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

  test("the form of the edit page renames, extends and deletes the image", async () => {
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
    expect(await refused.text()).toContain("Enter a date and a time.");
    expect((await post({ action: "delete" })).status).toBe(400);
    expect((await post({ action: "delete", confirm: "on", pin: "wrong" })).status).toBe(403);
    expect((await fetch(image.url)).status).toBe(200);
    const removed = await post({ action: "delete", confirm: "on" });
    expect(removed.status).toBe(303);
    expect(removed.headers.get("location")).not.toContain(image.pin);
    const gone = await fetch(removed.headers.get("location") ?? "", { headers: html });
    expect([gone.status, gone.headers.get("content-type")]).toEqual([410, "text/html; charset=utf-8"]);
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
