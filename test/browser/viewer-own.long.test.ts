import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "../support/service.ts";

const DAY_MS = 86_400_000;

describe("the bar of the uploader in the viewer", () => {
  let site: Site;
  let browser: Browser;
  let picture: Buffer;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite({ maxLifetimeMs: 10 * DAY_MS }), launchChromium()]);
    picture = await jpegPhoto(300, 200);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  /** Opens the viewer in a browser that has uploaded these images; the first one is shown. */
  async function asUploader(
    images: Created[],
    use: (page: Page) => Promise<void>,
    path = "/view",
  ): Promise<void> {
    const saved = images.map(({ id, name, pin, url, type, expiresAt }) => ({
      id,
      name,
      pin,
      url,
      type,
      expiresAt,
    }));
    await withPage(browser, { permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
      await page.goto(`${site.base}/`);
      await page.evaluate(
        ([key, list]) => localStorage.setItem(String(key), JSON.stringify(list)),
        [keyOf(), saved],
      );
      await page.goto(images[0]?.url + path);
      await page.getByRole("group", { name: "Your upload" }).waitFor();
      await use(page);
    });
  }
  const keyOf = () => `outrigger uploads ${site.base}`;
  const savedIn = (page: Page) =>
    page.evaluate((key) => JSON.parse(localStorage.getItem(key) ?? "[]"), keyOf()) as Promise<Created[]>;
  const recordOf = async ({ id }: Created) =>
    (await (await fetch(addressOf(site, id, "json"))).json()) as Created;
  const statusOf = async ({ id }: Created) => (await fetch(addressOf(site, id, "json"))).status;
  const isFocused = (page: Page, name: string) =>
    page.getByRole("button", { name, exact: true }).evaluate((element) => element === document.activeElement);

  test("only a browser that holds the PIN sees the bar", async () => {
    const [own, other] = [await uploaded(), await uploaded()];
    await asUploader([own], async (page) => {
      expect(await page.locator(".own").textContent()).toMatch(/^You uploaded this · expires in 2[34] hours/);
      expect(await overflowsOf(page)).toEqual([]);
      const scripts: string[] = [];
      page.on("request", (request) => scripts.push(request.url()));
      await page.goto(other.url, { waitUntil: "networkidle" });
      expect(await page.locator(".own").count()).toBe(0);
      expect(scripts.filter((url) => url.includes("own-bar"))).toEqual([]);
    });
  });

  test("+1 day counts from the present expiry, and a step ends at the longest lifetime", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      const complaints = complaintsOf(page);
      await page.getByRole("button", { name: "+1 day" }).click();
      await page.getByRole("status").filter({ hasText: "The image expires on" }).waitFor();
      const later = Date.parse(String(image.expiresAt)) + DAY_MS;
      expect(Date.parse(String((await recordOf(image)).expiresAt))).toBe(later);
      expect(Date.parse(String((await savedIn(page))[0]?.expiresAt))).toBe(later);
      expect(await isFocused(page, "+1 day")).toBe(true);
      await page.getByRole("button", { name: "Extend to 10 days" }).click();
      await page.getByText("expires in 9 days").waitFor();
      const left = Date.parse(String((await recordOf(image)).expiresAt)) - Date.now();
      expect(left).toBeGreaterThan(9.99 * DAY_MS);
      expect(left).toBeLessThanOrEqual(10 * DAY_MS);
      expect(await page.getByRole("button", { name: /^\+|Extend/ }).count()).toBe(0);
      expect(complaints).toEqual([]);
    });
  });

  test("Rename changes heading, title and saved list, and Escape keeps the name", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      await page.getByRole("button", { name: "Rename" }).click();
      await page.keyboard.press("Escape");
      expect(await isFocused(page, "Rename")).toBe(true);
      await page.keyboard.press("Enter");
      await page.keyboard.type("Bay & boat");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { level: 1, name: "Bay & boat" }).waitFor();
      expect(await page.title()).toMatch(/^Bay & boat/);
      await page.getByRole("status").filter({ hasText: "Renamed to Bay & boat." }).waitFor();
      expect(await isFocused(page, "Rename")).toBe(true);
      expect((await savedIn(page))[0]?.name).toBe("Bay & boat");
    });
  });

  test("Edit opens the edit page, and the copied edit link is named as secret", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      await page.getByRole("button", { name: "Copy edit link" }).click();
      await page
        .getByRole("status")
        .filter({ hasText: "Anyone with this link can edit or delete" })
        .waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(image.editUrl);
      await page.getByRole("link", { name: "Edit", exact: true }).click();
      await page.getByRole("button", { name: "Save changes" }).waitFor();
    });
  });

  test("Delete is sent after 8 seconds, and Undo cancels it", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      const now = Date.now();
      await page.clock.install({ time: now });
      // Without this the clock runs, on a busy machine beyond the 8 seconds.
      await page.clock.pauseAt(now + 60_000);
      await page.getByRole("button", { name: "Delete" }).click();
      expect(await isFocused(page, "Undo")).toBe(true);
      expect(await page.locator("figure").isVisible()).toBe(false);
      await page.clock.runFor(7_900);
      await page.keyboard.press("Enter");
      expect(await isFocused(page, "Delete")).toBe(true);
      await page.clock.runFor(20_000);
      expect(await statusOf(image)).toBe(200);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.clock.runFor(8_100);
      await page.getByRole("heading", { name: "no longer available" }).waitFor();
      expect(await statusOf(image)).toBe(410);
      expect(await savedIn(page)).toEqual([]);
    });
  });

  test("leaving the page sends a pending deletion, and keeps the PIN", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      await page.getByRole("button", { name: "Delete" }).click();
      await page.goto("about:blank");
      await expect.poll(() => statusOf(image)).toBe(410);
      await page.goto(`${site.base}/robots.txt`);
      expect(await savedIn(page)).toHaveLength(1);
    });
  });

  test("a deletion that did not arrive when the page was left is sent again by the upload page", async () => {
    const image = await uploaded();
    await asUploader([image], async (page) => {
      // The browser may send the request of a page that is left without asking an interceptor.
      await page.evaluate(() => {
        window.fetch = async () => {
          throw new TypeError("The network failed");
        };
      });
      await page.getByRole("button", { name: "Delete" }).click();
      await page.goto(`${site.base}/robots.txt`);
      expect(await statusOf(image)).toBe(200);
      await page.goto(`${site.base}/`);
      await expect.poll(() => statusOf(image)).toBe(410);
    });
  });

  test("a pending deletion can be undone after a page turn", async () => {
    const pdf = await upload(site, numberedPdf(3), "application/pdf");
    await asUploader([pdf], async (page) => {
      await page.getByRole("link", { name: "Next" }).click();
      await page.waitForURL(/page=2/);
      await page.getByRole("button", { name: "Delete" }).click();
      await page.goBack();
      await page.locator('.stage img[alt*="page 2"]').waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Undo" }).click();
      expect(await page.locator("figure").isVisible()).toBe(true);
      expect(await statusOf(pdf)).toBe(200);
    });
  });

  test("refusals and a broken network are explained, and the page stays as it was", async () => {
    const image = await uploaded();
    const wrong = { ...image, pin: "0000000000000000" };
    await asUploader([wrong], async (page) => {
      await page.getByRole("button", { name: "+1 day" }).click();
      await page.getByRole("alert").filter({ hasText: "did not accept the PIN" }).waitFor();
      await page.context().setOffline(true);
      await page.getByRole("button", { name: "+1 day" }).click();
      await page.getByRole("alert").filter({ hasText: "cannot be reached" }).waitFor();
      await page.clock.install();
      await page.getByRole("button", { name: "Delete" }).click();
      await page.clock.runFor(8_100);
      await page
        .getByRole("alert")
        .filter({ hasText: "Not deleted. The server cannot be reached" })
        .waitFor();
      expect(await page.locator("figure").isVisible()).toBe(true);
      expect(await savedIn(page)).toHaveLength(1);
    });
    expect((await recordOf(image)).expiresAt).toBe(image.expiresAt);
  });

  const uploaded = () => upload(site, picture, "image/jpeg", { fileName: "boat.jpg" });
});
