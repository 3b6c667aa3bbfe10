import { readFile } from "node:fs/promises";
import type { Locator, Page } from "playwright-core";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { jpegPhoto, pngPhoto } from "../support/pictures.ts";
import { addressOf, type Created, startSite } from "../support/service.ts";
import { choose, copied, entryOf, linkOf, onUploadPage, recordAt, shareUploadPage } from "./upload-page.ts";

/** Opens the square of a card. */
async function openSquare(entry: Locator, side = 256): Promise<void> {
  await entry.getByText(`Square, ${side} px`).click();
  await entry.getByText("pixels").waitFor();
}

describe("the square of the upload page", { timeout: 90_000 }, () => {
  const shared = shareUploadPage();
  const { onPage, boat, add } = shared;

  test("three clicks give a square: choose the picture, open the square, save it or copy its address", async () => {
    const large = { ...boat(), buffer: await jpegPhoto(800, 500) };
    await onPage(async (page) => {
      const chooser = page.waitForEvent("filechooser");
      await page.getByText("Choose images").click();
      await (await chooser).setFiles(large);
      const entry = entryOf(page, "boat.jpg");
      await openSquare(entry);
      const saving = page.waitForEvent("download");
      await entry.getByRole("link", { name: "Download the square of boat.jpg" }).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toBe("boat.jpg");
      const bytes = await readFile(await saved.path());
      expect(await sharp(bytes).metadata()).toMatchObject({ format: "jpeg", width: 256, height: 256 });
      expect(await entry.getByText("JPEG · 256 × 256 pixels").count()).toBe(1);
      await expect
        .poll(() => page.getByRole("log").textContent())
        .toContain("The square of boat.jpg is ready.");

      const address = await copied(page, entry.getByRole("button", { name: "Copy address of the square" }));
      const { id } = await recordAt(shared.site, await linkOf(entry));
      expect(address).toBe(`${addressOf(shared.site, id, "jpg")}?resize=256x256&fit=cover`);
      expect(Buffer.from(await (await fetch(address)).arrayBuffer()).equals(bytes)).toBe(true);
      await entry.getByRole("link", { name: "Move it" }).click();
      await page.getByRole("slider", { name: "Focal point" }).waitFor();
    });
  });

  test("a picture smaller than the square gives the largest one, and one with transparency a PNG", async () => {
    const small = { name: "small.png", mimeType: "image/png", buffer: await pngPhoto(120, 80) };
    await onPage(async (page) => {
      await choose(page, small);
      const entry = entryOf(page, "small.png");
      await openSquare(entry);
      expect(await entry.getByText("PNG · 80 × 80 pixels").count()).toBe(1);
    });
  });

  test("a square that is refused says so", async () => {
    await onPage(
      async (page) => {
        await page.route(/fit=cover/, (route) => route.fulfill({ status: 503 }));
        await choose(page, boat());
        const entry = entryOf(page, "boat.jpg");
        await entry.getByText("Square, 256 px").click();
        await entry.getByText("This picture can’t be cut now. Try again later.").waitFor();
      },
      { mayComplain: /503/ },
    );
  });

  test("an image of an earlier visit shows its blurred picture until its thumbnail is loaded", async () => {
    const image = await add("earlier.jpg");
    await onPage(async (page) => {
      const canvas = page.locator(".earlier canvas");
      await savedBefore(page, shared.site.base, image);
      let release = () => {};
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(/resize=192x192/, async (route) => {
        await released;
        await route.continue();
      });
      await page.reload({ waitUntil: "domcontentloaded" });
      await canvas.waitFor();
      const colours = await canvas.evaluate((element: HTMLCanvasElement) => {
        const { width, height } = element;
        return new Set(element.getContext("2d")?.getImageData(0, 0, width, height).data).size;
      });
      expect(colours).toBeGreaterThan(8);
      release();
      await canvas.waitFor({ state: "detached" });
      expect(await page.locator(".earlier .thumbnail img").count()).toBe(1);
    });
  });

  /** Saves an image in the list of uploads, as an earlier visit did. */
  function savedBefore(page: Page, base: string, image: Created): Promise<void> {
    return page.evaluate(
      ([key = "", list = ""]) => localStorage.setItem(key, list),
      [`outrigger uploads ${base}`, JSON.stringify([image])],
    );
  }
});

describe("where sizes are bounded", { timeout: 90_000 }, () => {
  test.each([
    ["steps", 256],
    [{ steps: [400, 1200] }, 400],
    ["signed", null],
  ] as const)("sizes: %j offers a square of %s pixels, which the service cuts", async (sizes, side) => {
    const [site, browser, photo] = await Promise.all([
      startSite({ sizes }),
      launchChromium(),
      jpegPhoto(900, 600),
    ]);
    try {
      await onUploadPage(browser, site, async (page) => {
        await choose(page, { name: "boat.jpg", mimeType: "image/jpeg", buffer: photo });
        const entry = entryOf(page, "boat.jpg");
        await linkOf(entry);
        if (side === null) {
          expect(await entry.getByText(/^Square/).count()).toBe(0);
          return;
        }
        await openSquare(entry, side);
        expect(await entry.getByText(`JPEG · ${side} × ${side} pixels`).count()).toBe(1);
      });
    } finally {
      await browser.close();
      await site.close();
    }
  });
});
