import type { Browser, Locator } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sizeText } from "../../packages/web/src/phrases.ts";
import { launchChromium, withPage } from "../support/chromium.ts";
import { halfTransparentPng, jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite, upload } from "../support/service.ts";
import { openOptions, pick, settled } from "./download-options.ts";

describe("the comparison of a download with the original", { timeout: 90_000 }, () => {
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test.each([1280, 390])(
    "the divider shows the original on its left and the download on its right (%i px wide)",
    async (width) => {
      const half = await upload(site, await halfTransparentPng(200, 100), "image/png");
      await withPage(browser, { viewport: { width, height: 900 } }, async (page) => {
        await openOptions(page, half.url);
        await settled(page);
        await pick(page, "JPEG");
        await expect.poll(() => settled(page)).toContain("JPEG");
        expect(await page.locator(".options .hint").textContent()).toBe("Transparent parts become white.");
        const divider = page.getByRole("slider", { name: "Divider between the original and the download" });
        const inPanel = await page.locator(".options .compare").count();
        expect(inPanel).toBe(width < 960 ? 1 : 0);
        await divider.focus();
        await page.keyboard.press("Home");
        expect(await isWhite(page.locator(".pair"), 0.25)).toBe(true);
        await page.keyboard.press("ArrowRight");
        expect(await divider.getAttribute("aria-valuetext")).toBe("1 % original");
        await page.keyboard.press("End");
        expect(await isWhite(page.locator(".pair"), 0.25)).toBe(false);
        // The original itself has nothing to be compared with.
        await pick(page, "PNG");
        await divider.waitFor({ state: "detached" });
        expect(await page.locator("a.stage img").isVisible()).toBe(true);
        expect(await page.locator(".result").textContent()).toContain(
          `PNG · 200 px · ${sizeText(Number(half.size))}`,
        );
      });
    },
  );

  test("a drag moves the divider, also at 100 %, where the view follows the divider", async () => {
    const photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg");
    await withPage(browser, {}, async (page) => {
      await openOptions(page, photo.url);
      await settled(page);
      const divider = page.getByRole("slider");
      const pair = page.locator(".pair");
      const drag = async (by: number) => {
        const { x, y, width, height } = await boxOf(pair);
        const at = { x: x + (width * Number(await divider.inputValue())) / 100, y: y + height / 2 };
        await page.mouse.move(at.x, at.y);
        await page.mouse.down();
        await page.mouse.move(at.x + by, at.y, { steps: 3 });
        await page.mouse.up();
      };
      const { width: fitted } = await boxOf(pair);
      await drag(fitted / 4);
      expect(await divider.inputValue()).toBe("75");
      await page.getByRole("button", { name: "100 %" }).click();
      expect((await boxOf(pair)).width).toBe(2200);
      await drag(-110);
      expect(await divider.inputValue()).toBe("70");
      const scrolled = () => page.locator(".compare").evaluate(({ scrollLeft }) => scrollLeft);
      await divider.focus();
      await page.keyboard.press("Home");
      expect(await scrolled()).toBe(0);
      await page.keyboard.press("End");
      expect(await scrolled()).toBeGreaterThan(1000);
      await page.getByRole("button", { name: "100 %", pressed: true }).click();
      expect((await boxOf(pair)).width).toBe(fitted);
    });
  });

  async function boxOf(locator: Locator) {
    return (await locator.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  }

  /** Whether a picture is white at this fraction of its width, in the upper quarter, without the labels. */
  async function isWhite(picture: Locator, fraction: number): Promise<boolean> {
    const shot = sharp(await picture.screenshot());
    const { width, height } = await shot.metadata();
    const region = {
      left: Math.round(width * fraction) - 10,
      top: Math.round(height / 4) - 10,
      width: 20,
      height: 20,
    };
    const pixels = await shot.extract(region).removeAlpha().raw().toBuffer();
    return pixels.every((value) => value > 252);
  }
});
