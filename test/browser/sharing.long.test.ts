import jsqr from "jsqr";
import type { Browser, Locator, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
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

  /** The text of a QR code, as a camera reads it from the screen. */
  async function decoded(code: Locator): Promise<string | undefined> {
    const { data, info } = await sharp(await code.screenshot())
      .ensureAlpha()
      .raw()
      .toBuffer({ resolveWithObject: true });
    return jsqr.default(new Uint8ClampedArray(data), info.width, info.height)?.data;
  }

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

  test.each(["light", "dark"] as const)(
    "the viewer shows a QR code that a camera reads (%s)",
    async (colorScheme) => {
      await withPage(browser, { colorScheme }, async (page) => {
        const complaints = complaintsOf(page);
        await page.goto(photo.url);
        expect(await page.getByRole("button", { name: "Share…" }).count()).toBe(0);
        await page.getByLabel("More", { exact: true }).click();
        const button = page.getByRole("button", { name: "QR code of the page link" });
        await button.click();
        const dialog = page.getByRole("dialog", { name: "Scan to open on a phone" });
        expect(await decoded(dialog.getByRole("img"))).toBe(`${photo.url}/view`);
        expect(await dialog.textContent()).toContain("Harbour");
        await page.keyboard.press("Escape");
        await dialog.waitFor({ state: "detached" });
        expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
        await button.click();
        expect(await overflowsOf(page)).toEqual([]);
        await dialog.getByRole("button", { name: "Close" }).click();
        await dialog.waitFor({ state: "detached" });
        expect(complaints).toEqual([]);
      });
    },
  );
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
