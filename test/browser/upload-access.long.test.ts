import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { launchChromium, overflowsOf } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";
import { choose, entryOf, eventually, linkOf, menuItem, onUploadPage, textFile } from "./upload-page.ts";

describe("accessibility of the upload page", () => {
  let site: Site;
  let browser: Browser;
  let photo: Buffer;

  beforeAll(async () => {
    [site, browser, photo] = await Promise.all([startSite(), launchChromium(), jpegPhoto(120, 80)]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const boat = (name = "boat.jpg") => ({ name, mimeType: "image/jpeg", buffer: photo });

  test("the upload page works by keyboard alone, from choosing a file to deleting the image", async () => {
    await onUploadPage(browser, site, async (page) => {
      // Registered early: Playwright does not wait until Chromium has enabled the event.
      const chooser = page.waitForEvent("filechooser");
      await tabTo(page, "Choose images");
      await page.keyboard.press("Enter");
      await (await chooser).setFiles([boat("one.jpg"), boat("two.jpg")]);
      await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
      expect(await focusedLabel(page)).toBe("Choose images");

      await tabTo(page, "Open one.jpg");
      await tabTo(page, "Copy link to one.jpg");
      await page.keyboard.press("Enter");
      await eventually(() => page.getByRole("log").textContent()).toContain("Link copied.");
      page.on("dialog", (dialog) => dialog.accept());
      await tabTo(page, "More for one.jpg");
      await page.keyboard.press("Enter");
      await tabTo(page, "Delete…");
      await page.keyboard.press("Enter");
      await eventually(() => page.locator(".entry").count()).toBe(1);
      expect(await focusedLabel(page)).toBe("Copy link to two.jpg");
      await tabTo(page, "More for two.jpg");
      await page.keyboard.press("Enter");
      await tabTo(page, "Delete…");
      await page.keyboard.press("Enter");
      await eventually(() => page.locator(".entry").count()).toBe(0);
      expect(await focusedLabel(page)).toBe("Choose images");
    });
  });
  test("the upload page fits every window width in every state", async () => {
    await onUploadPage(browser, site, async (page) => {
      expect(await overflowsOf(page)).toEqual([]);
      await choose(page, boat(`${"W".repeat(120)}.jpg`), textFile());
      await linkOf(page.locator(".entry.ready"));
      expect(await overflowsOf(page)).toEqual([]);
      await page.reload();
      await linkOf(page.locator(".entry"));
      expect(await overflowsOf(page)).toEqual([]);
    });
  });

  test.each(["light", "dark"] as const)(
    "the upload page with rows and a saved list has no serious fault in %s",
    async (colorScheme) => {
      await onUploadPage(
        browser,
        site,
        async (page) => {
          await choose(page, boat("one.jpg"), boat("two.jpg"));
          await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
          await page.reload();
          await choose(page, boat("three.jpg"), textFile());
          await linkOf(entryOf(page, "three.jpg"));
          await (await menuItem(entryOf(page, "one.jpg"), "Copy edit link")).click();
          await page.getByText("Anyone with the edit link can edit or delete the image.").first().waitFor();
          // Injected through the browser itself, since the policy forbids foreign scripts.
          expect(await axeFaults(page, {}, ["serious", "critical"])).toEqual([]);
        },
        { colorScheme },
      );
    },
  );
});

/** Presses Tab until an element with this label has the focus. */
async function tabTo(page: Page, label: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if ((await focusedLabel(page)) === label) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${label} cannot be reached by Tab; the focus is on ${await focusedLabel(page)}`);
}

function focusedLabel(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    return focused?.getAttribute("aria-label") ?? focused?.textContent?.trim() ?? "";
  });
}
