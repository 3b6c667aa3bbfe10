import { readFile } from "node:fs/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sizeText } from "../../packages/web/src/phrases.ts";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, jpegPhoto, svgDrawing } from "../support/pictures.ts";
import {
  addressOf,
  bytesOf,
  type Created,
  type Site,
  startSite,
  upload,
  withSite,
} from "../support/service.ts";
import { openOptions, pick, requestsOf, said, settled, sizeOf } from "./download-options.ts";

describe("the download options of the viewer", { timeout: 90_000 }, () => {
  let site: Site;
  let browser: Browser;
  let photo: Created;
  let report: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg", { fileName: "Hafen Süd.jpg" });
    report = await upload(site, numberedPdf(3), "application/pdf", { fileName: "Report.pdf" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  test("the options show the size of the chosen file from one request, and Download saves its bytes", async () => {
    const context = { permissions: ["clipboard-read", "clipboard-write"] };
    await withPage(browser, context, async (page) => {
      const complaints = complaintsOf(page);
      const requests = requestsOf(page);
      await openOptions(page, photo.url);
      const original = sizeText(Number(photo.size));
      expect(await settled(page)).toBe(
        `WebP · 2200 px · ${await sizeOf(addressOf(site, photo.id, "webp"))} (was ${original})`,
      );
      requests.length = 0;
      // Alone with the keyboard: JPEG, low, 1200.
      await page.getByRole("radio", { name: "WebP" }).focus();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Tab");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("1200");
      const address = `${addressOf(site, photo.id, "jpg")}?convert=low&resize=1200x`;
      await expect.poll(() => settled(page)).toContain("1200 px");
      const { response, bytes } = await bytesOf(address);
      expect(response.status).toBe(200);
      expect(await settled(page)).toBe(`JPEG · 1200 px · ${sizeText(bytes.length)} (was ${original})`);
      await expect.poll(() => said(page)).toBe(`JPEG, ${sizeText(bytes.length)}`);
      const saving = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download", exact: true }).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe("Hafen Süd.jpg");
      expect((await readFile(await saved.path())).equals(bytes)).toBe(true);
      await page.getByRole("button", { name: "Copy address" }).click();
      await expect.poll(() => said(page)).toBe("Address copied");
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(address);
      expect(requests.filter((url) => url.includes("convert=low"))).toEqual([address]);
      expect(complaints).toEqual([]);
    });
  });

  test("the quality auto of a JPEG shows the size of the file that the service finds", async () => {
    await withPage(browser, {}, async (page) => {
      await openOptions(page, photo.url);
      await pick(page, "JPEG");
      const requests = requestsOf(page);
      await pick(page, "auto");
      const address = `${addressOf(site, photo.id, "jpg")}?convert=auto`;
      const { response, bytes } = await bytesOf(address);
      expect(response.status).toBe(200);
      await expect.poll(() => settled(page)).toContain(`JPEG · 2200 px · ${sizeText(bytes.length)}`);
      expect(requests.filter((url) => url.includes("convert=auto"))).toEqual([address]);
    });
  });

  test("a later choice cancels the request, and digits typed in a row make one request", async () => {
    await withPage(browser, {}, async (page) => {
      const cancelled: string[] = [];
      page.on("requestfailed", (request) => cancelled.push(request.url()));
      await page.route(/\.avif$/, () => {});
      await openOptions(page, photo.url);
      await settled(page);
      const asked = page.waitForRequest(/\.avif$/);
      await pick(page, "AVIF");
      await asked;
      const requests = requestsOf(page);
      await pick(page, "PNG");
      await page.getByLabel("Width").fill("");
      await page.getByLabel("Width").pressSequentially("640");
      await expect.poll(() => settled(page)).toContain("PNG · 640 px");
      expect(cancelled).toEqual([addressOf(site, photo.id, "avif")]);
      expect(requests.filter((url) => url.includes("resize="))).toEqual([
        `${addressOf(site, photo.id, "png")}?resize=640x`,
      ]);
    });
  });

  test("a width beyond the picture is refused with its bounds, and requests nothing", async () => {
    await withPage(browser, {}, async (page) => {
      await openOptions(page, photo.url);
      await settled(page);
      const requests = requestsOf(page);
      const width = page.getByLabel("Width");
      await width.fill("2201");
      expect(await width.getAttribute("aria-invalid")).toBe("true");
      expect(await page.locator("#download-width-hint").textContent()).toBe("Choose 1 to 2200 px.");
      expect(await page.locator(".options .download").getAttribute("href")).toBeNull();
      expect(await page.getByRole("button", { name: "Copy address" }).isDisabled()).toBe(true);
      await width.fill("2200");
      expect(await settled(page)).toContain("WebP · 2200 px");
      expect(requests.filter((url) => url.includes("resize="))).toEqual([]);
    });
  });

  test("turned pages keep the options open and apply to the shown page", async () => {
    await withPage(browser, {}, async (page) => {
      await openOptions(page, `${report.url}/view?page=2`);
      await pick(page, "JPEG");
      await page.getByLabel("Width").fill("300");
      await expect.poll(() => settled(page)).toMatch(/^JPEG · 300 px · \S+ \w+$/);
      const asked = page.waitForRequest(/\.jpg\?page=3&convert=high&resize=300x$/);
      await page.getByRole("link", { name: "Next" }).click();
      const request = await asked;
      await expect.poll(() => settled(page)).toContain(await sizeOf(request.url()));
      expect(await page.getByRole("slider").count()).toBe(1);
      await pick(page, "PDF original");
      expect(await page.locator(".options .hint").textContent()).toBe("The whole document.");
      expect(await page.getByLabel("Width").isVisible()).toBe(false);
    });
  });

  test("a drawing can be enlarged, and an animation has no comparison", async () => {
    const drawing = await upload(site, svgDrawing, "image/svg+xml");
    const animation = await upload(site, await animatedGif(3), "image/gif");
    await withPage(browser, {}, async (page) => {
      await openOptions(page, drawing.url);
      await page.getByLabel("Width").fill("600");
      await expect.poll(() => settled(page)).toContain("WebP · 600 px");
      await openOptions(page, animation.url);
      expect(await settled(page)).toContain("WebP · 80 px");
      expect(await page.locator(".options .hint").textContent()).toBe("Keeps the animation.");
      await pick(page, "PNG");
      await expect.poll(() => settled(page)).toContain("PNG · 80 px");
      expect(await page.locator(".options .hint").textContent()).toBe("First frame only.");
      expect(await page.getByRole("slider").count()).toBe(0);
    });
  });

  test.each([
    [429, { "Retry-After": "12" }, "Too many requests. Try again in 12 s."],
    [503, { "Retry-After": "5" }, "The server says: “The renderer is busy.” Try again in 5 s."],
    [400, {}, "The server says: “The renderer is busy.”"],
    [0, {}, "The server cannot be reached. Check your connection and try again."],
  ] as const)("a refusal (%i) is explained, and a second attempt succeeds", async (status, headers, text) => {
    await withPage(browser, {}, async (page) => {
      const body = JSON.stringify({ detail: "The renderer is busy." });
      await page.route(
        /\.webp$/,
        (route) => (status === 0 ? route.abort() : route.fulfill({ status, headers, body })),
        { times: 1 },
      );
      await openOptions(page, photo.url);
      expect(await settled(page)).toBe(text);
      expect(await said(page)).toBe(text);
      expect(await page.locator(".options .download").getAttribute("href")).toBeNull();
      const retry = page.getByRole("button", { name: "Try again" });
      await retry.focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => settled(page)).toContain("WebP · ");
      expect(
        await page.locator(".options .download").evaluate((link) => link === document.activeElement),
      ).toBe(true);
    });
  });

  test("the service's own limit and a deleted image are explained", async () => {
    await withSite({ rateLimits: { reads: { perMinute: 1, burst: 30 } } }, async (limited) => {
      const image = await upload(limited, await jpegPhoto(300, 200), "image/jpeg");
      await withPage(browser, {}, async (page) => {
        await openOptions(page, image.url);
        await settled(page);
        for (let left = 30; left > 0; left--) await fetch(addressOf(limited, image.id, "jpg"));
        await pick(page, "PNG");
        await expect.poll(() => settled(page)).toMatch(/^Too many requests\. Try again in \d+ s\.$/);
      });
    });
    const image = await upload(site, await jpegPhoto(300, 200), "image/jpeg");
    await withPage(browser, {}, async (page) => {
      await openOptions(page, image.url);
      await settled(page);
      await fetch(`${addressOf(site, image.id, "json")}?pin=${image.pin}`, { method: "DELETE" });
      await pick(page, "PNG");
      await expect.poll(() => settled(page)).toBe("The image is no longer available.");
    });
  });

  test("signed addresses have no width, and are requested as the page signed them", async () => {
    await withSite({ sizes: "signed" }, async (signed) => {
      const image = await upload(signed, await jpegPhoto(300, 200), "image/jpeg");
      await withPage(browser, {}, async (page) => {
        await openOptions(page, image.url);
        await pick(page, "JPEG");
        await expect.poll(() => settled(page)).toMatch(/^JPEG · 300 px · .+ \(was .+\)$/);
        expect(await page.getByLabel("Width").isVisible()).toBe(false);
      });
    });
  });

  test("an image with addresses on another origin can be downloaded without its size", async () => {
    await withSite({ publicUrl: "https://images.example/img" }, async (elsewhere) => {
      const image = await upload(elsewhere, await jpegPhoto(300, 200), "image/jpeg");
      await withPage(browser, {}, async (page) => {
        // The page's files are below `publicUrl` too.
        await page.route("https://images.example/**", async (route) => {
          const url = new URL(route.request().url());
          await route.fulfill({ response: await route.fetch({ url: elsewhere.origin + url.pathname }) });
        });
        const requests = requestsOf(page);
        await openOptions(page, `${elsewhere.base}/${image.id}/view`);
        expect(await page.locator(".result").textContent()).toBe("WebP · 300 px");
        expect(await page.locator(".options .hint").textContent()).toContain("comes from another address");
        const href = `https://images.example/img/api/images/${image.id}.webp`;
        expect(await page.locator(".options .download").getAttribute("href")).toBe(href);
        expect(requests).not.toContain(href);
      });
    });
  });

  test("the open options have no accessibility fault, fit every width, and keep their borders in forced colours", async () => {
    await withPage(browser, {}, async (page) => {
      await openOptions(page, photo.url);
      await pick(page, "JPEG");
      await expect.poll(() => settled(page)).toContain("JPEG");
      expect(await axeFaults(page)).toEqual([]);
      expect(await overflowsOf(page)).toEqual([]);
      await page.setViewportSize({ width: 320, height: 900 });
      await page.emulateMedia({ colorScheme: "dark" });
      await page.locator(".options .compare").waitFor();
      expect(await axeFaults(page)).toEqual([]);
    });
    await withPage(browser, { forcedColors: "active" }, async (page) => {
      await openOptions(page, photo.url);
      await settled(page);
      const looks = await page.locator(".options .pill").evaluateAll((pills) =>
        pills.map((pill) => {
          const { borderTopStyle, backgroundColor } = getComputedStyle(pill);
          return `${borderTopStyle} ${backgroundColor}`;
        }),
      );
      expect(looks.every((look) => look.startsWith("solid"))).toBe(true);
      // The chosen format differs from the others.
      expect(new Set(looks).size).toBe(2);
    });
  });

  test("without JavaScript the download links are all there is", async () => {
    await withPage(browser, { javaScriptEnabled: false }, async (page) => {
      await page.goto(photo.url);
      expect(await page.getByText("Download options").count()).toBe(0);
      expect(await page.locator(".downloads a[download]").count()).toBe(12);
    });
  });
});
