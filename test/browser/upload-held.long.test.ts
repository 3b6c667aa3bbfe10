import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { launchChromium, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";
import { choose, entryOf, linkOf, onUploadPage } from "./upload-page.ts";

let site: Site;
let browser: Browser;
let photo: Buffer;

beforeAll(async () => {
  [site, browser, photo] = await Promise.all([
    startSite({ inspect: () => "hold", asyncAfterMs: 0 }),
    launchChromium(),
    jpegPhoto(300, 200),
  ]);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

test("a held upload shows its link and that it waits for review, and does not poll", async () => {
  await onUploadPage(browser, site, async (page) => {
    await choose(page, { name: "boat.jpg", mimeType: "image/jpeg", buffer: photo });
    await page.getByRole("heading", { name: "1 uploaded · 1 waiting for review" }).waitFor();
    const entry = entryOf(page, "boat.jpg");
    expect(await entry.textContent()).toContain("Waits for review. The link works once it is accepted.");
    const address = await linkOf(entry);
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().endsWith(".json")) asked++;
    });
    await page.waitForTimeout(3_000);
    expect(asked).toBe(0);
    expect(await axeFaults(page)).toEqual([]);

    await withPage(browser, {}, async (reader) => {
      expect((await reader.goto(address))?.status()).toBe(202);
      expect(await reader.getByRole("heading").textContent()).toBe("Waiting for review");
      expect(await axeFaults(reader)).toEqual([]);
      for await (const { id } of site.images.list({ state: "held" })) await site.images.accept(id);
      await reader.reload();
      await reader.locator(".stage img").waitFor();
    });
  });
});
