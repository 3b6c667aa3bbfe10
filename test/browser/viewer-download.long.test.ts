import { readFile } from "node:fs/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";

describe("the download control of the viewer", { timeout: 90_000 }, () => {
  let site: Site;
  let browser: Browser;
  let photo: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg", { fileName: "Hafen Süd.jpg" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const link = (page: Page) => page.getByRole("link", { name: "Download", exact: true });
  const href = (page: Page) => link(page).getAttribute("href");
  const format = (page: Page) => page.getByLabel("Format");

  test("a format, a quality and a width are chosen by keyboard, and Download saves that file", async () => {
    await withPage(browser, {}, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(photo.url);
      expect(await href(page)).toBe(addressOf(site, photo.id, "jpg"));
      expect(await page.getByLabel("Width").isVisible()).toBe(false);
      await format(page).focus();
      await page.keyboard.type("JPEG, low");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Control+A");
      await page.keyboard.type("1200");
      const address = `${addressOf(site, photo.id, "jpg")}?convert=low&resize=1200x`;
      expect(await href(page)).toBe(address);
      const saving = page.waitForEvent("download");
      await link(page).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe("Hafen Süd.jpg");
      expect((await readFile(await saved.path())).equals((await bytesOf(address)).bytes)).toBe(true);
      expect(complaints).toEqual([]);
    });
  });

  test("a width beyond the picture is refused with its bounds, and its own width is asked for plainly", async () => {
    await withPage(browser, {}, async (page) => {
      await page.goto(photo.url);
      await format(page).selectOption("WebP");
      expect(await href(page)).toBe(addressOf(site, photo.id, "webp"));
      for (const wrong of ["2201", "0", "", "1.5"]) {
        await page.getByLabel("Width").fill(wrong);
        await page.getByText("Choose 1 to 2200 px.").first().waitFor();
        expect(await link(page).count()).toBe(0);
      }
      expect(await page.getByRole("status").textContent()).toBe("Choose 1 to 2200 px.");
      await page.getByLabel("Width").fill("2200");
      expect(await href(page)).toBe(addressOf(site, photo.id, "webp"));
    });
  });
  test("the control has no accessibility fault, and fits every width", async () => {
    await withPage(browser, {}, async (page) => {
      await page.goto(photo.url);
      await format(page).selectOption("WebP");
      await page.getByLabel("Width").fill("9");
      expect(await axeFaults(page)).toEqual([]);
      expect(await overflowsOf(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await axeFaults(page)).toEqual([]);
    });
  });
});
