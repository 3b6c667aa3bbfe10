import { createRenderer } from "@outrigger/imaging";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { animatedGif, jpegPhoto } from "../support/pictures.ts";
import { postWithHeaders } from "../support/post-with-headers.ts";
import { type Created, type Site, startSite } from "../support/service.ts";

describe("the page of an image that is being processed", () => {
  let site: Site;
  let browser: Browser;
  let letGo: () => void = () => {};
  let held: Promise<void>;

  beforeAll(async () => {
    const renderer = createRenderer();
    const admit: typeof renderer.admit = async (...args) => {
      await held;
      return renderer.admit(...args);
    };
    [site, browser] = await Promise.all([startSite({ renderer: { ...renderer, admit } }), launchChromium()]);
  });
  afterAll(async () => {
    letGo();
    await browser.close();
    await site.close();
  });

  async function startUpload(bytes: Buffer, type: "image/jpeg" | "image/gif"): Promise<Created> {
    held = new Promise((resolve) => {
      letGo = resolve;
    });
    const response = await postWithHeaders(site, bytes, type, { Prefer: "respond-async" });
    expect(response.status).toBe(202);
    return (await response.json()) as Created;
  }

  test("becomes the viewer by itself when that is done, without being loaded in between", async () => {
    const { url } = await startUpload(await jpegPhoto(300, 200), "image/jpeg");
    await withPage(browser, {}, async (page) => {
      const complaints = complaintsOf(page);
      let loads = 0;
      page.on("domcontentloaded", () => {
        loads += 1;
      });
      let asked = 0;
      page.on("request", (request) => {
        if (request.resourceType() === "fetch") asked += 1;
      });
      expect((await page.goto(url))?.status()).toBe(202);
      expect(await page.getByRole("heading").textContent()).toBe("Processing image");
      await expect.poll(() => asked).toBeGreaterThan(2);
      expect(loads).toBe(1);
      letGo();
      const picture = page.locator(".stage img");
      await picture.waitFor();
      expect(
        await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth)),
      ).toBe(300);
      expect(loads).toBe(2);
      expect(complaints).toEqual([]);
    });
  });

  test("does so without JavaScript too, and tells the reason when nothing comes of it", async () => {
    const { url } = await startUpload((await animatedGif()).subarray(0, 400), "image/gif");
    await withPage(browser, { javaScriptEnabled: false }, async (page) => {
      await page.goto(url);
      letGo();
      await page.getByRole("heading", { name: "Page not found" }).waitFor();
      expect(await page.locator(".status").textContent()).toBe("404 Not Found");
      expect((await page.locator(".card p").first().textContent())?.length).toBeGreaterThan(10);
    });
  });
});
