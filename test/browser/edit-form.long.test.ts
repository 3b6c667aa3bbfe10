import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload } from "../support/service.ts";
import { partOf } from "../support/soak.ts";

/** Whether the browser runs scripts. */
const SCRIPTING = partOf([true, false], [true]);

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

describe.each(SCRIPTING)("the edit page in Chromium (JavaScript: %s)", (javaScriptEnabled) => {
  const mine = (name = "before") => upload(site, photo, "image/jpeg", { name });
  const saved = (page: Page) => page.getByRole("button", { name: "Save changes" }).click();
  const notice = (page: Page) => page.locator(".notice").textContent();
  const recordOf = async ({ id }: Created) =>
    (await (await fetch(addressOf(site, id, "json"))).json()) as Created;

  test("renames and prolongs, and says which of them it did", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled, timezoneId: "Asia/Tokyo" }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl);
      await page.getByLabel("Name").fill("after");
      await saved(page);
      await expect.poll(() => notice(page)).toBe("Name updated.");
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("after");

      await page.getByRole("radio", { name: "In", exact: true }).check();
      await page.getByLabel("Time from now").selectOption({ label: "30 days" });
      await saved(page);
      await expect
        .poll(() => notice(page))
        .toMatch(
          javaScriptEnabled
            ? /^Expiry changed to \w+ \d+, \d{4}, \d+:\d\d [AP]M GMT\+9\.$/
            : /^Expiry changed to \w+ \d+, \d{4}, \d+:\d\d [AP]M UTC\.$/,
        );
      const { expiresAt } = await recordOf(image);
      expect(Math.round((Date.parse(String(expiresAt)) - Date.now()) / 86_400_000)).toBe(30);

      const at = Math.floor(Date.now() / 60_000) * 60_000 + 9 * 86_400_000;
      const offsetMs = javaScriptEnabled ? 9 * 3_600_000 : 0;
      expect(await page.locator("#zone").textContent()).toBe(javaScriptEnabled ? "GMT+9" : "UTC");
      await page.getByLabel("Name").fill("at last");
      await page.getByRole("radio", { name: "On", exact: true }).check();
      await page.getByLabel("Date and time").fill(new Date(at + offsetMs).toISOString().slice(0, 16));
      await saved(page);
      await expect.poll(() => notice(page)).toContain("Name updated. Expiry changed to");
      expect(await recordOf(image)).toMatchObject({
        name: "at last",
        expiresAt: new Date(at).toISOString(),
      });

      await saved(page);
      await expect.poll(() => notice(page)).toBe("No changes to save.");
      expect(complaints).toEqual([]);
    });
  });

  test("keeps what was typed when it refuses, and ties the message to the field in focus", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      // As a browser without date limits sends it.
      await page
        .locator("form")
        .first()
        .evaluate((form: HTMLFormElement) => {
          form.noValidate = true;
        });
      await page.getByLabel("Name").fill("typed");
      await page.getByRole("radio", { name: "On", exact: true }).check();
      await page.getByLabel("Date and time").fill("2020-01-02T03:04");
      await saved(page);
      const field = page.getByLabel("Date and time");
      await page.locator(".fault").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("typed");
      expect(await field.inputValue()).toBe("2020-01-02T03:04");
      expect(await page.getByRole("radio", { name: "On", exact: true }).isChecked()).toBe(true);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await field.getAttribute("aria-describedby")).toMatch(/^expiresAt-fault /);
      expect(await page.locator("#expiresAt-fault").textContent()).toBe("Choose a time in the future.");
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("expires-at");
      expect((await recordOf(image)).name).toBe("before");
    });
  });

  test("sets the focal point by two fields, removes it by empty ones, and refuses one field alone", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl);
      const [left, top] = [page.getByLabel("From the left"), page.getByLabel("From the top")];
      await left.fill("25");
      await saved(page);
      await page.locator("#focusY-fault").waitFor();
      expect(await page.locator("#focusY-fault").textContent()).toBe(
        "Enter both numbers, or clear both to keep the centre.",
      );
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("focus-y");
      expect([await left.inputValue(), await top.getAttribute("aria-invalid")]).toEqual(["25", "true"]);
      await top.fill("10.5");
      await saved(page);
      await expect.poll(() => notice(page)).toBe("Focal point updated.");
      expect((await recordOf(image)).focus).toEqual([0.25, 0.105]);
      expect([await left.inputValue(), await top.inputValue()]).toEqual(["25", "10.5"]);
      await left.fill("");
      await top.fill("");
      await saved(page);
      await expect.poll(() => notice(page)).toBe("Focal point removed.");
      expect((await recordOf(image)).focus).toBeNull();
      expect(complaints.filter((complaint) => !complaint.includes("400"))).toEqual([]);
    });
  });

  test("deletes only when that is confirmed, and then says that it did", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      await page.getByRole("button", { name: "Delete image" }).click();
      expect(page.url()).toBe(image.editUrl);
      await page.getByLabel("Yes, delete this image").check();
      await page.getByRole("button", { name: "Delete image" }).click();
      await page.waitForURL(javaScriptEnabled ? `${image.url}/view` : `${image.url}/view?done=delete`);
      expect(await page.getByRole("heading").textContent()).toBe("Image deleted");
      expect(await page.locator("main").textContent()).toContain("Its links no longer work.");
      expect(await page.getByRole("main").getByRole("link", { name: "Upload an image" }).count()).toBe(1);
    });
  });

  test("asks for the PIN again when it is wrong, and goes on with the right one", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      expect((await page.goto(`${image.url}/edit`))?.status()).toBe(403);
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByLabel("PIN").fill("0000000000000000");
      await page.getByRole("button", { name: "Continue" }).click();
      expect(await page.getByRole("alert").textContent()).toBe("Incorrect PIN");
      // As people write it down.
      await page.getByLabel("PIN").fill(image.pin.toLowerCase().replace(/(.{4})(?=.)/g, "$1-"));
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Save changes" }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("before");
    });
  });

  test("gives the PIN to no other page: no referrer, no title, no cache, no address that it leads to", async () => {
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
      await page.locator(".notice").waitFor();
      await page.getByRole("link", { name: "View the image" }).click();
      await page.waitForURL(/\/view$/);
      expect(await page.evaluate(() => document.referrer)).toBe("");
      expect(await page.content()).not.toContain(image.pin);
      expect(sent.filter((text) => text.includes(image.pin))).toEqual([]);
    });
  });
});
