import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "../support/service.ts";

let site: Site;
let browser: Browser;
let photo: Buffer;

beforeAll(async () => {
  [photo, site, browser] = await Promise.all([jpegPhoto(100, 80), startSite(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

describe.each([true, false])("the edit page in Chromium (JavaScript: %s)", (javaScriptEnabled) => {
  const mine = (name = "before") => upload(site, photo, "image/jpeg", { name });
  const saved = (page: Page) => page.getByRole("button", { name: "Save changes" }).click();
  const notice = (page: Page) => page.locator(".notice").textContent();
  const recordOf = async ({ id }: Created) =>
    (await (await fetch(addressOf(site, id, "json"))).json()) as Created;

  test("a save changes the name, the expiry or both, and the page reports which", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl);
      await page.getByLabel("Name").fill("after");
      await saved(page);
      await page.waitForURL(/done=name$/);
      expect(await notice(page)).toBe("The new name is saved.");
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("after");

      await page.getByLabel("Expires").selectOption({ label: "30 days from now" });
      await saved(page);
      await page.waitForURL(/done=expiresAt$/);
      expect(await notice(page)).toMatch(/^The new expiry is saved: \d+ \w+ \d{4}, \d\d:\d\d UTC\.$/);
      const { expiresAt } = await recordOf(image);
      expect(Math.abs(Date.parse(String(expiresAt)) - Date.now() - 30 * 86_400_000)).toBeLessThan(60_000);

      const date = new Date(Date.now() + 9 * 86_400_000).toISOString().slice(0, 16);
      await page.getByLabel("Name").fill("at last");
      await page.getByLabel("Or pick a date and time (UTC)").fill(date);
      await saved(page);
      await page.waitForURL(/done=name-expiresAt$/);
      expect(await notice(page)).toContain("The new name is saved. The new expiry is saved:");
      expect(await recordOf(image)).toMatchObject({ name: "at last", expiresAt: `${date}:00.000Z` });

      await saved(page);
      await page.waitForURL(/done=nothing$/);
      expect(await notice(page)).toBe("Nothing was changed: name and expiry are the same as before.");
      expect(complaints).toEqual([]);
    });
  });

  test("Delete removes the image only when confirmed, and the page then reports it", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      await page.getByRole("button", { name: "Delete image" }).click();
      expect(page.url()).toBe(image.editUrl);
      await page.getByLabel("Yes, delete this image").check();
      await page.getByRole("button", { name: "Delete image" }).click();
      await page.waitForURL(`${image.url}/view?done=delete`);
      expect(await page.getByRole("heading").textContent()).toBe("Image deleted");
      expect(await page.locator("main").textContent()).toContain("This image was deleted.");
      expect(await page.getByRole("main").getByRole("link", { name: "Upload an image" }).count()).toBe(1);
    });
  });

  test("a wrong PIN shows the PIN form again, and the right PIN opens the edit page", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      expect((await page.goto(`${image.url}/edit`))?.status()).toBe(403);
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByLabel("PIN").fill("0000000000000000");
      await page.getByRole("button", { name: "Continue" }).click();
      expect(await page.getByRole("alert").textContent()).toBe("The PIN is wrong");
      // Typed as people write it down.
      await page.getByLabel("PIN").fill(image.pin.toLowerCase().replace(/(.{4})(?=.)/g, "$1-"));
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Save changes" }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("before");
    });
  });

  test("the PIN reaches no other page through referrer, title, cache or link", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      const sent: string[] = [];
      page.on("request", (request) => {
        const isOwn = request.isNavigationRequest() && request.url().includes("/edit");
        if (!isOwn) sent.push(request.url());
        sent.push(request.headers().referer ?? "");
      });
      const response = await page.goto(image.editUrl);
      expect(response?.headers()).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
      });
      expect(await page.title()).not.toContain(image.pin);
      await page.getByLabel("Name").fill("other");
      await saved(page);
      await page.waitForURL(/done=name$/);
      await page.getByRole("link", { name: "View the image" }).click();
      await page.waitForURL(/\/view$/);
      expect(await page.evaluate(() => document.referrer)).toBe("");
      expect(await page.content()).not.toContain(image.pin);
      expect(sent.filter((text) => text.includes(image.pin))).toEqual([]);
    });
  });
});
