import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, jpegPhoto } from "../support/pictures.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

const WIDE_SVG = `<svg xmlns="http://www.w3.org/2000/svg" width="3000" height="2000"><rect width="3000" height="2000" fill="teal"/></svg>`;

describe("zoom in the viewer", () => {
  let site: Site;
  let browser: Browser;
  let large: Created;
  let report: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    large = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg");
    report = await upload(site, numberedPdf(5), "application/pdf");
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test("a click shows the full picture at 100 % with the clicked point under the pointer, and a second click fits it again", async () => {
    await withPage(browser, {}, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(large.url);
      const before = await pictureBox(page);
      const point = { x: before.left + before.width * 0.7, y: before.top + before.height / 2 };
      await page.mouse.move(point.x, point.y);
      expect(await cursor(page)).toBe("zoom-in");
      await page.mouse.click(point.x, point.y);
      await page.locator(".zoomed").waitFor();
      expect(await cursor(page)).toBe("zoom-out");
      const after = await pictureBox(page);
      expect(after.width).toBe(2200);
      expect(await page.locator(".stage img").getAttribute("src")).toMatch(/\.jpg$/);
      expect(Math.abs(after.left + after.width * 0.7 - point.x)).toBeLessThan(3);
      expect(await page.locator("#said").textContent()).toContain("Escape");
      await page.locator(".stage").click();
      expect(await pictureBox(page)).toEqual(before);
      expect(await page.locator("#said").textContent()).toBe("Fitted to the page.");
      expect(complaints).toEqual([]);
    });
  });

  test("Enter zooms a page of a document, the arrow keys scroll it, and after Escape they turn pages again", async () => {
    await withPage(browser, {}, async (page) => {
      await page.setViewportSize({ width: 800, height: 600 });
      await page.goto(`${report.url}/view?page=2`);
      const full = await fetch(`${site.base}/api/images/${report.id}.png?page=2`);
      const { width: fullWidth } = await sharp(Buffer.from(await full.arrayBuffer())).metadata();
      const stage = page.locator(".stage");
      await stage.focus();
      await page.keyboard.press("Enter");
      await page.locator(".zoomed").waitFor();
      expect((await pictureBox(page)).width).toBe(fullWidth);
      const top = await stage.evaluate((element) => element.scrollTop);
      await page.keyboard.press("ArrowDown");
      await expect.poll(() => stage.evaluate((element) => element.scrollTop)).toBeGreaterThan(top);
      await page.keyboard.press("ArrowRight");
      expect(page.url()).toMatch(/page=2$/);
      await page.keyboard.press("Escape");
      expect(await page.locator(".zoomed").count()).toBe(0);
      await page.keyboard.press("ArrowRight");
      await page.waitForURL(/\?page=3$/);
    });
  });

  test("an SVG larger than the window zooms; a picture at 100 % and a click with Ctrl follow the link", async () => {
    const drawing = await upload(site, Buffer.from(WIDE_SVG), "image/svg+xml");
    const small = await upload(site, await jpegPhoto(300, 200), "image/jpeg");
    await withPage(browser, {}, async (page) => {
      await page.goto(drawing.url);
      const tab = page.context().waitForEvent("page");
      await page.locator(".stage").click({ modifiers: ["Control"] });
      await (await tab).waitForURL(/\.svg$/);
      expect(await page.locator(".zoomed").count()).toBe(0);
      await page.locator(".stage").click();
      await page.locator(".zoomed").waitFor();
      expect((await pictureBox(page)).width).toBe(3000);
      await page.goto(small.url);
      await page.locator(".stage").click();
      await page.waitForURL(/\.jpg$/);
    });
  });

  test("without JavaScript the picture links to its full size", async () => {
    await withPage(browser, { javaScriptEnabled: false }, async (page) => {
      await page.goto(large.url);
      await page.locator(".stage").click();
      await page.waitForURL(/\.jpg$/);
    });
  });

  test.each([
    ["reduce", "Play animation", "png", "gif"],
    ["no-preference", "Stop animation", "gif", "png"],
  ] as const)(
    "a button plays and stops an animation (reduced motion: %s)",
    async (reducedMotion, label, first, second) => {
      const { url } = await upload(site, await animatedGif(3), "image/gif");
      await withPage(browser, { reducedMotion }, async (page) => {
        await page.goto(url);
        const shown = () =>
          page.locator(".stage img").evaluate((img: HTMLImageElement) => img.currentSrc.slice(-3));
        await expect.poll(shown).toBe(first);
        await page.getByRole("button", { name: label }).click();
        await expect.poll(shown).toBe(second);
        await page.getByRole("button", { name: /animation$/ }).click();
        await expect.poll(shown).toBe(first);
        expect(await page.getByRole("button", { name: label }).count()).toBe(1);
      });
    },
  );

  function pictureBox(page: Page): Promise<Record<"left" | "top" | "width" | "height", number>> {
    return page.locator(".stage img").evaluate(async (img: HTMLImageElement) => {
      await img.decode();
      const { left, top, width, height } = img.getBoundingClientRect();
      return { left, top, width, height };
    });
  }

  function cursor(page: Page): Promise<string> {
    return page.locator(".stage").evaluate((stage) => getComputedStyle(stage).cursor);
  }
});
