import type { Browser, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { meanDifference, type ReadPicture } from "../matrix/independent-reader.ts";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";

describe("the focal point on the edit page", { timeout: 90_000 }, () => {
  let site: Site;
  let browser: Browser;
  /** 600 × 400, with another colour in each part. */
  let colours: Buffer;
  let image: Created;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
    const pixels = Buffer.from(
      Array.from({ length: 600 * 400 }, (_, index) => {
        const [x, y] = [index % 600, Math.floor(index / 600)];
        return [Math.floor(x / 3), Math.floor(y / 2), 120];
      }).flat(),
    );
    colours = await sharp(pixels, { raw: { width: 600, height: 400, channels: 3 } })
      .png()
      .toBuffer();
    image = await upload(site, colours, "image/png", { name: "colours" });
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const marker = (page: Page) => page.getByRole("slider", { name: "Focal point" });
  const point = (page: Page) =>
    Promise.all([
      page.getByLabel("From the left").inputValue(),
      page.getByLabel("From the top").inputValue(),
    ]);
  const focusOf = async ({ id }: Created) =>
    ((await (await fetch(addressOf(site, id, "json"))).json()) as Created).focus;

  /** Clicks a place of the picture, in shares of its sides. */
  async function click(page: Page, x: number, y: number): Promise<void> {
    await page.locator(".focal-picture").scrollIntoViewIfNeeded();
    const box = await page.locator(".focal-picture img").boundingBox();
    if (box === null) throw new Error("The picture is not shown");
    await page.mouse.click(box.x + x * box.width, box.y + y * box.height);
  }

  test("a click sets the point, is announced, and the cuts show what the service then cuts", async () => {
    await withPage(browser, { deviceScaleFactor: 2 }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl);
      await marker(page).waitFor();
      expect(await point(page)).toEqual(["", ""]);
      await click(page, 0.2, 0.75);
      const [x, y] = (await point(page)).map(Number);
      expect([Math.abs(Number(x) - 20) < 0.5, Math.abs(Number(y) - 75) < 0.5]).toEqual([true, true]);
      expect(await page.locator("output.unseen").textContent()).toBe(
        `Focal point: ${x} % from the left, ${y} % from the top.`,
      );
      const shown = async (shape: string) => {
        const bytes = await page.locator(`.cut${shape}`).screenshot();
        return readInner(bytes);
      };
      const [square, wide] = [await shown(".square"), await shown(".wide")];
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.getByText("Focal point updated.").waitFor();
      expect(await focusOf(image)).toEqual(
        [x, y].map((percent) => Number((Number(percent) / 100).toFixed(4))),
      );
      for (const [picture, box] of [
        [square, "224x224"],
        [wide, "384x216"],
      ] as const) {
        const { bytes } = await bytesOf(`${addressOf(site, image.id, "png")}?resize=${box}&fit=cover`);
        expect(meanDifference(picture, await readInner(bytes)), box).toBeLessThan(3);
      }
      expect(complaints).toEqual([]);
    });
  });

  test("arrow keys move the point by 1 %, with Shift by 10 %, and not beyond the edge", async () => {
    const other = await upload(site, colours, "image/png");
    await withPage(browser, {}, async (page) => {
      await page.goto(other.editUrl);
      await marker(page).focus();
      await page.keyboard.press("ArrowLeft");
      await page.keyboard.press("Shift+ArrowUp");
      expect(await point(page)).toEqual(["49", "40"]);
      expect(await marker(page).getAttribute("aria-valuetext")).toBe("49 % from the left, 40 % from the top");
      for (let presses = 0; presses < 6; presses++) await page.keyboard.press("Shift+ArrowRight");
      expect(await point(page)).toEqual(["100", "40"]);
      // Typed values move the mark.
      await page.getByLabel("From the left").fill("12.5");
      expect(await marker(page).getAttribute("aria-valuenow")).toBe("12.5");
      await page.getByRole("button", { name: "Use the centre" }).click();
      expect(await point(page)).toEqual(["", ""]);
      expect(await page.locator("output.unseen").textContent()).toBe("Focal point: the centre.");
      expect(await page.evaluate(() => document.activeElement?.className)).toBe("focal-marker");
      expect(await page.getByRole("button", { name: "Use the centre" }).isDisabled()).toBe(true);
    });
  });
  test("the mark can be dragged, and a tap on a phone sets the point without a drag of the page", async () => {
    const phone = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 844 } };
    await withPage(browser, {}, async (page) => {
      await page.goto(image.editUrl);
      await marker(page).scrollIntoViewIfNeeded();
      const box = await marker(page).boundingBox();
      if (box === null) throw new Error("The mark is not shown");
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.mouse.down();
      await page.mouse.move(box.x + 2000, box.y - 2000, { steps: 4 });
      await page.mouse.up();
      expect(await point(page)).toEqual(["100", "0"]);
    });
    await withPage(browser, phone, async (page) => {
      await page.goto(image.editUrl);
      await marker(page).waitFor();
      await page.locator(".focal-picture").scrollIntoViewIfNeeded();
      const box = await page.locator(".focal-picture img").boundingBox();
      if (box === null) throw new Error("The picture is not shown");
      await page.touchscreen.tap(box.x + 0.5 * box.width, box.y + 0.25 * box.height);
      await expect.poll(async () => Math.abs(Number((await point(page))[1]) - 25) < 1).toBe(true);
    });
  });
});

/** The pixels of a picture without its corners, which the page rounds, at 50 × 50. */
async function readInner(bytes: Buffer): Promise<ReadPicture> {
  const { width, height } = await sharp(bytes).metadata();
  const inner = { left: 16, top: 16, width: width - 32, height: height - 32 };
  const { data: rgb, info } = await sharp(bytes)
    .extract(inner)
    .resize(50, 50, { fit: "fill" })
    .flatten({ background: "#fff" })
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, rgb };
}
