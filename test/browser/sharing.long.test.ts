import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

describe("sharing a link", () => {
  let site: Site;
  let browser: Browser;
  let photo: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(300, 200), "image/jpeg", { name: "Harbour" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  /** Records what the page hands to the share sheet, which Chromium on Linux does not have. */
  function fakeShareSheet(page: Page, refusal: string | null) {
    return page.addInitScript((name) => {
      Object.defineProperty(navigator, "share", {
        async value(data: ShareData) {
          document.documentElement.dataset.shared = `${data.title} ${data.url}`;
          if (name !== null) throw new DOMException("", name);
        },
      });
    }, refusal);
  }

  test("Share… hands name and link to the share sheet, and explains a refusal", async () => {
    for (const [refusal, text] of [
      [null, ""],
      ["AbortError", ""],
      ["NotAllowedError", "Couldn’t open the share sheet. Copy the link and send it yourself."],
    ] as const) {
      await withPage(browser, {}, async (page) => {
        await fakeShareSheet(page, refusal);
        await page.goto(photo.url);
        await page.getByRole("button", { name: "Share…" }).click();
        await page.locator("html[data-shared]").waitFor();
        expect(await page.locator("html").getAttribute("data-shared")).toBe(`Harbour ${photo.url}/view`);
        await expect.poll(() => page.locator(".headline > .hint").textContent()).toBe(text);
        expect(await overflowsOf(page)).toEqual([]);
      });
    }
  });
});
