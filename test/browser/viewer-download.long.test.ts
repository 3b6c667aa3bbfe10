import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";

describe("the download form of the viewer", () => {
  let browser: Browser;
  let site: Site;
  let photo: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg", { fileName: "Hafen Süd.jpg" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  /** Name and bytes of the file that the form saves. */
  async function saved(url: string, format: string, size: string, javaScriptEnabled: boolean) {
    return withPage(browser, { javaScriptEnabled }, async (page) => {
      await page.goto(url);
      await page.getByLabel("Download", { exact: true }).click();
      await page.getByLabel("Format").selectOption(format);
      await page.getByLabel("Size", { exact: true }).selectOption(size);
      const saving = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download" }).click();
      const file = await saving;
      return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
    });
  }

  test.each([
    ["JPEG, original", "Original size", "jpg", "", true],
    ["JPEG, low quality", "Medium, 800 px", "jpg", "?convert=low&resize=800x800", true],
    ["WebP", "Small, 320 px", "webp", "?resize=320x320", false],
  ] as const)(
    "%s in %s is saved from .%s%s (JavaScript: %s)",
    async (format, size, suffix, query, script) => {
      const { name, bytes } = await saved(photo.url, format, size, script);
      expect(name).toBe(`Hafen Süd.${suffix}`);
      expect(bytes.equals((await bytesOf(addressOf(site, photo.id, suffix) + query)).bytes)).toBe(true);
    },
  );

  test("a pane that opens below the window is scrolled to", async () => {
    await withPage(browser, { viewport: { width: 1280, height: 800 } }, async (page) => {
      await page.goto(photo.url);
      for (const name of ["Download", "More"]) {
        await page.getByLabel(name, { exact: true }).click();
        const bottom = () =>
          page.locator(".drop[open] > .pane").evaluate((pane) => pane.getBoundingClientRect().bottom);
        await expect.poll(bottom).toBeLessThanOrEqual(800);
      }
    });
  });

  test("a document is saved whole, and the shown page of it in other formats", async () => {
    const { id, url } = await upload(site, numberedPdf(3), "application/pdf");
    const view = `${url}/view?page=2`;
    const [whole, page] = [
      await saved(view, "PDF, original", "Original size", true),
      await saved(view, "PNG", "Small, 320 px", true),
    ];
    expect(whole.bytes.equals((await bytesOf(addressOf(site, id, "pdf"))).bytes)).toBe(true);
    const address = `${addressOf(site, id, "png")}?page=2&resize=320x320`;
    expect(page.bytes.equals((await bytesOf(address)).bytes)).toBe(true);
  });

  test("a drawing stays one in every size", async () => {
    const { url } = await upload(site, svgDrawing, "image/svg+xml");
    const { bytes } = await saved(url, "SVG, original", "Medium, 800 px", true);
    expect(bytes.toString()).toMatch(/^<svg[^>]+width="800"/);
  });

  test("with signed sizes, the form has the signed qualities, and another size is refused", async () => {
    const signed = await startSite({ sizes: "signed" });
    try {
      const { url } = await upload(signed, await jpegPhoto(900, 600), "image/jpeg");
      await withPage(browser, { javaScriptEnabled: false }, async (page) => {
        await page.goto(url);
        await page.getByLabel("Download", { exact: true }).click();
        expect(await page.getByLabel("Size", { exact: true }).count()).toBe(0);
        await page.getByLabel("Format").selectOption("JPEG, low quality");
        const saving = page.waitForEvent("download");
        await page.getByRole("button", { name: "Download" }).click();
        expect((await readFile(await (await saving).path())).length).toBeGreaterThan(100);
      });
      expect((await fetch(`${url}/view?download=jpg&resize=100x100`)).status).toBe(403);
    } finally {
      await signed.close();
    }
  });
});
