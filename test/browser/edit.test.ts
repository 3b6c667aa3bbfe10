import { createServer, request } from "node:http";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, overflowsOf, withPage } from "../support/chromium.ts";
import { listen } from "../support/listen.ts";
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

  test("renames and prolongs, and says which of them it did", async () => {
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
      await page.getByLabel("Or at an exact time, in UTC").fill(date);
      await saved(page);
      await page.waitForURL(/done=name-expiresAt$/);
      expect(await notice(page)).toContain("The new name is saved. The new expiry is saved:");
      expect(await recordOf(image)).toMatchObject({ name: "at last", expiresAt: `${date}:00.000Z` });

      await saved(page);
      await page.waitForURL(/done=nothing$/);
      expect(await notice(page)).toBe("Nothing was changed: all is as it was.");
      expect(complaints).toEqual([]);
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
      await page.waitForURL(`${image.url}/view?done=delete`);
      expect(await page.getByRole("heading").textContent()).toBe("The image is deleted");
      expect(await page.locator("main").textContent()).toContain("This image was deleted.");
      expect(await page.getByRole("link", { name: "Upload an image" }).count()).toBe(1);
    });
  });

  test("asks for the PIN again when it is wrong, and goes on with the right one", async () => {
    const image = await mine();
    await withPage(browser, { javaScriptEnabled }, async (page) => {
      expect((await page.goto(`${image.url}/edit`))?.status()).toBe(403);
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByLabel("PIN").fill("0000000000000000");
      await page.getByRole("button", { name: "Continue" }).click();
      expect(await page.getByRole("alert").textContent()).toBe("The PIN is wrong");
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
      await page.waitForURL(/done=name$/);
      await page.getByRole("link", { name: "View the image" }).click();
      await page.waitForURL(/\/view$/);
      expect(await page.evaluate(() => document.referrer)).toBe("");
      expect(await page.content()).not.toContain(image.pin);
      expect(sent.filter((text) => text.includes(image.pin))).toEqual([]);
    });
  });
});

describe("the edit page in Chromium", () => {
  async function withSite(options: Parameters<typeof startSite>[0], use: (site: Site) => Promise<void>) {
    const site = await startSite(options);
    try {
      await use(site);
    } finally {
      await site.close();
    }
  }

  test("after too many wrong PINs the page that asks for the PIN says how long to wait", async () => {
    await withSite({ rateLimits: { pinFailures: 2 } }, async (site) => {
      const image = await upload(site, photo, "image/jpeg");
      await withPage(browser, {}, async (page) => {
        for (const status of [403, 403, 429]) {
          expect((await page.goto(`${image.url}/edit?pin=wrong`))?.status()).toBe(status);
        }
        expect(await page.getByRole("alert").textContent()).toMatch(
          /^Too many wrong PINs came from your address\. Try again in \d+ seconds?\.$/,
        );
        const response = await page.goto(image.editUrl);
        expect(response?.status()).toBe(429);
        expect(Number(response?.headers()["retry-after"])).toBeGreaterThan(0);
      });
    });
  });

  test("too many edits answer a page with the reason", async () => {
    await withSite({ rateLimits: { edits: 1 } }, async (site) => {
      const image = await upload(site, photo, "image/jpeg");
      await withPage(browser, {}, async (page) => {
        await page.goto(image.editUrl);
        expect((await page.goto(image.editUrl))?.status()).toBe(429);
        expect(await page.locator("main").textContent()).toMatch(/Try again in \d+ seconds?\./);
      });
    });
  });

  test("offers no longer life than there may be, and shows the chosen end in the reader's time zone", async () => {
    await withSite({ maxLifetimeMs: 7 * 86_400_000 }, async (site) => {
      const image = await upload(site, photo, "image/jpeg");
      await withPage(browser, { timezoneId: "Asia/Tokyo" }, async (page) => {
        await page.goto(image.editUrl);
        const labels = await page.getByLabel("Expires").locator("option").allTextContents();
        expect(labels.at(-1)).toBe("7 days from now");
        await page.getByLabel("Expires").selectOption("86400000");
        expect(await page.locator("output").textContent()).toMatch(/^It will expire on .* GMT\+9\.$/);
        await page.getByLabel("Expires").selectOption("");
        await page.getByLabel("Or at an exact time, in UTC").fill("2031-02-03T20:05");
        expect(await page.locator("output").textContent()).toBe("It will expire on 4 Feb 2031, 05:05 GMT+9.");
      });
    });
  });

  test("reached under another name than the public one, it loads its files, and its forms arrive and come back", async () => {
    let target = "";
    const front = createServer((req, res) => {
      const { method = "GET", headers } = req;
      req.pipe(
        request(target + req.url, { method, headers }, (answer) => {
          res.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(res);
        }),
      );
    });
    const { port, close } = await listen(front);
    const publicUrl = `http://localhost:${port}/img`;
    await withSite({ publicUrl }, async (site) => {
      target = site.origin;
      const image = await upload(site, photo, "image/jpeg");
      expect(image.editUrl.startsWith(publicUrl)).toBe(true);
      await withPage(browser, {}, async (page) => {
        const complaints = complaintsOf(page);
        await page.goto(image.editUrl.replace("localhost", "127.0.0.1"));
        await page.locator("output").waitFor({ state: "attached" });
        await page.getByLabel("Name").fill("after");
        await page.getByRole("button", { name: "Save changes" }).click();
        await page.waitForURL(/localhost.*done=name$/);
        expect(complaints).toEqual([]);
      });
    });
    await close();
  });

  test("fits every window, however long the name", async () => {
    const image = await upload(site, photo, "image/jpeg", { name: "W".repeat(255) });
    await withPage(browser, {}, async (page) => {
      for (const address of [image.editUrl, `${image.url}/edit`, `${image.editUrl}&done=name-expiresAt`]) {
        await page.goto(address);
        expect(await overflowsOf(page)).toEqual([]);
      }
    });
  });
});
