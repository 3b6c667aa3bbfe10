import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

describe("a picture of the viewer that does not load", () => {
  let browser: Browser;
  let site: Site;
  let photo: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(1200, 800), "image/jpeg");
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const files = (url: string) => url.includes("/api/images/");
  const failure = (page: Page) => page.locator("figure .placeholder");
  const isShown = (page: Page) =>
    page.locator(".stage img").evaluate((image: HTMLImageElement) => image.naturalWidth > 0);

  test("a broken connection is said with a button that tries again", async () => {
    await withPage(browser, {}, async (page) => {
      await page.route(
        ({ href }) => files(href),
        (route) => route.abort(),
      );
      await page.goto(photo.url);
      await failure(page).getByText("The image could not be loaded.").waitFor();
      expect(await page.getByRole("status").textContent()).toBe("The image could not be loaded.");
      expect(await page.locator(".stage").isVisible()).toBe(false);
      expect(await axeFaults(page)).toEqual([]);
      await page.unrouteAll();
      await page.getByRole("button", { name: "Try again" }).click();
      await failure(page).waitFor({ state: "detached" });
      expect(await isShown(page)).toBe(true);
      expect(await overflowsOf(page)).toEqual([]);
    });
  });

  test("a 503 is tried again by itself after Retry-After, once", async () => {
    await withPage(browser, {}, async (page) => {
      let refused = 0;
      await page.route(
        ({ href }) => files(href),
        (route) => {
          refused++;
          return route.fulfill({ status: 503, headers: { "Retry-After": "1" } });
        },
      );
      await page.goto(photo.url);
      // Twice the picture, each time with the question why it failed.
      await expect.poll(() => refused).toBe(4);
      await page.waitForTimeout(1500);
      expect(refused).toBe(4);
      await page.unrouteAll();
      await page.getByRole("button", { name: "Try again" }).click();
      await expect.poll(() => isShown(page)).toBe(true);
    });
  });

  test("the second try shows the picture without a click", async () => {
    await withPage(browser, {}, async (page) => {
      let refused = 0;
      await page.route(
        ({ href }) => files(href),
        (route) =>
          refused++ < 2 ? route.fulfill({ status: 503, headers: { "Retry-After": "1" } }) : route.continue(),
      );
      await page.goto(photo.url);
      await failure(page).waitFor();
      await failure(page).waitFor({ state: "detached" });
      expect(await isShown(page)).toBe(true);
    });
  });

  test.each(["deleted", "withheld"])("the page of an image that was %s meanwhile says so", async (how) => {
    const { id, pin, url } = await upload(site, await jpegPhoto(640, 480), "image/jpeg", { name: how });
    await withPage(browser, {}, async (page) => {
      let isEnded = false;
      await page.route(
        ({ href }) => files(href),
        async (route) => {
          if (!isEnded && how === "withheld") await site.images.withhold(id, { reason: "By order." });
          if (!isEnded && how === "deleted")
            await fetch(`${site.base}/api/images/${id}.json?pin=${pin}`, { method: "DELETE" });
          isEnded = true;
          await route.continue();
        },
      );
      await page.goto(url);
      const heading = how === "deleted" ? "no longer available" : "unavailable for legal reasons";
      await page.getByRole("heading", { name: heading }).waitFor();
    });
  });
});
