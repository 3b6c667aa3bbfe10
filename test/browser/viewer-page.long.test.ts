import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

const LONG_NAME = `${"W".repeat(120)} ${"a long name ".repeat(11)}`.trim();

describe("the viewer in Chromium", () => {
  let site: Site;
  let browser: Browser;
  let photo: Created;
  let report: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(1200, 800), "image/jpeg", { fileName: "Bucht & Boot.jpg" });
    report = await upload(site, numberedPdf(5), "application/pdf", { fileName: "Report.pdf" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test.each([true, false])(
    "the viewer shows the picture, its name and its uploader (JavaScript: %s)",
    async (javaScriptEnabled) => {
      await withPage(browser, { javaScriptEnabled }, async (page) => {
        const complaints = complaintsOf(page);
        await page.goto(photo.url);
        await page.locator(".stage img").waitFor();
        expect(await page.screenshot()).not.toHaveLength(0);
        const text = await page.locator("main").textContent();
        for (const part of ["Bucht & Boot.jpg", "OutriggerTest 1.0", "1200 × 800", "JPEG image", "left"]) {
          expect(text).toContain(part);
        }
        expect(await page.content()).not.toContain(photo.pin);
        expect(await page.getByRole("link", { name: "Upload an image" }).getAttribute("href")).toBe(
          `${site.base}/`,
        );
        // Copy buttons appear only where the clipboard is available.
        expect(await page.locator('[aria-label^="Copy "]').count()).toBe(javaScriptEnabled ? 13 : 0);
        expect(complaints).toEqual([]);
      });
    },
  );

  test("the viewer fits every window width, even with a long image name", async () => {
    const { url } = await upload(site, svgDrawing, "image/svg+xml", { name: LONG_NAME });
    await withPage(browser, {}, async (page) => {
      for (const address of [photo.url, `${report.url}/view?page=2`, url]) {
        await page.goto(address);
        expect([address, await overflowsOf(page)]).toEqual([address, []]);
      }
    });
  });

  test("with JavaScript, pages turn by arrow keys too, and Back returns to the previous one", async () => {
    await withPage(browser, {}, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(report.url);
      await page.getByRole("link", { name: "Next" }).click();
      await page.waitForURL(/\?page=2$/);
      await page.keyboard.press("ArrowRight");
      await page.waitForURL(/\?page=3$/);
      await page.locator('.stage img[src$="page=3"]').waitFor();
      await page.keyboard.press("ArrowLeft");
      await page.waitForURL(/\?page=2$/);
      await page.goBack();
      await page.locator('.stage img[src$="page=3"]').waitFor();
      expect(await page.locator(".copy").count()).toBeGreaterThan(0);
      // In the number field, the arrow keys move the cursor.
      await page.getByRole("spinbutton", { name: "Page" }).focus();
      await page.keyboard.press("ArrowLeft");
      expect(page.url()).toMatch(/\?page=3$/);
      expect(complaints).toEqual([]);
    });
  });

  test("copy buttons copy addresses and snippets", async () => {
    await withPage(browser, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      await page.goto(photo.url);
      const original = `${site.base}/api/images/${photo.id}.jpg`;
      const expected = {
        "Page link": `${photo.url}/view`,
        "Direct link": original,
        Markdown: `[![Bucht & Boot.jpg](${original})](${photo.url}/view)`,
        HTML: `<a href="${photo.url}/view"><img src="${original}" alt="Bucht &amp; Boot.jpg"></a>`,
        BBCode: `[url=${photo.url}/view][img]${original}[/img][/url]`,
      };
      await page.getByLabel("More", { exact: true }).click();
      for (const [label, text] of Object.entries(expected)) {
        const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
        await button.click();
        await page
          .getByRole("status")
          .filter({ hasText: `${label} copied` })
          .waitFor();
        expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
        expect(await button.textContent()).toBe("Copied");
      }
    });
  });

  test("the page of a gone or withheld image explains its state and offers a next step", async () => {
    const deleted = await upload(site, svgDrawing, "image/svg+xml");
    await fetch(`${site.base}/api/images/${deleted.id}.json?pin=${deleted.pin}`, { method: "DELETE" });
    const withheld = await upload(site, svgDrawing, "image/svg+xml");
    await site.images.withhold(withheld.id, { reason: "By order.", authority: "https://court.example/7" });
    await withPage(browser, {}, async (page) => {
      expect((await page.goto(deleted.url))?.status()).toBe(410);
      expect(await page.getByRole("heading").textContent()).toBe("This image is no longer available");
      expect(await page.locator("main").textContent()).toContain("This image was deleted.");
      expect(
        await page.getByRole("main").getByRole("link", { name: "Upload an image" }).getAttribute("href"),
      ).toBe(`${site.base}/`);
      expect((await page.goto(withheld.url))?.status()).toBe(451);
      expect(await page.locator("main").textContent()).toContain("By order.");
      expect(await page.getByRole("link", { name: "About this request" }).getAttribute("href")).toBe(
        "https://court.example/7",
      );
    });
  });
});
