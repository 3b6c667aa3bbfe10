import { createServer, request } from "node:http";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, launchChromium, withPage } from "../support/chromium.ts";
import { listen } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite, upload } from "../support/service.ts";

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

describe("the edit page in Chromium", () => {
  async function withSite(options: Parameters<typeof startSite>[0], use: (site: Site) => Promise<void>) {
    const site = await startSite(options);
    try {
      await use(site);
    } finally {
      await site.close();
    }
  }

  test("after Save the address has neither PIN nor result, and a reload opens the form again without a notice", async () => {
    const image = await upload(site, photo, "image/jpeg");
    await withPage(browser, {}, async (page) => {
      await page.goto(image.editUrl);
      expect(page.url()).toBe(image.editUrl);
      await page.getByLabel("Name").fill("after");
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.waitForURL(`${image.url}/edit`);
      expect(await page.locator(".notice").textContent()).toBe("Name updated.");
      for (let reloads = 0; reloads < 2; reloads++) {
        await page.reload();
        await page.getByRole("button", { name: "Save changes" }).waitFor();
        await page.waitForURL(`${image.url}/edit`);
        expect(await page.locator(".notice").count()).toBe(0);
      }
    });
    await withPage(browser, {}, async (page) => {
      await page.goto(`${image.url}/edit`);
      await page.getByLabel("PIN").waitFor();
      expect(page.url()).toBe(`${image.url}/edit`);
    });
  });

  test("a change and a deletion reach the saved list of the browser that uploaded the image", async () => {
    const image = await upload(site, photo, "image/jpeg", { name: "before" });
    const other = { ...image, id: "A".repeat(22), url: `${site.base}/${"A".repeat(22)}` };
    await withPage(browser, {}, async (page) => {
      const list = () =>
        page.evaluate(
          ([key]) => JSON.parse(localStorage.getItem(key ?? "") ?? "[]") as Record<string, string>[],
          [`outrigger uploads ${site.base}`],
        );
      await page.goto(`${image.url}/view`);
      await page.evaluate(
        ([key, saved]) => localStorage.setItem(key ?? "", saved ?? ""),
        [`outrigger uploads ${site.base}`, JSON.stringify([image, other])],
      );
      // The list has the PIN.
      await page.goto(`${image.url}/edit`);
      await page.getByLabel("Name").fill("after");
      await page.getByLabel("Time from now").selectOption({ label: "30 days" });
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.locator(".notice").waitFor();
      const response = await fetch(`${site.base}/api/images/${image.id}.json`);
      const { name, expiresAt } = (await response.json()) as Record<string, string>;
      expect(name).toBe("after");
      await expect.poll(async () => (await list())[0]).toMatchObject({ name, expiresAt, pin: image.pin });

      await page.getByLabel("Yes, delete this image").check();
      await page.getByRole("button", { name: "Delete image" }).click();
      await page.waitForURL(`${image.url}/view`);
      await expect.poll(async () => (await list()).map(({ id }) => id)).toEqual([other.id]);
    });
  });

  test("under a host name other than the public one, the page loads its assets and its forms return to the same host", async () => {
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
        await page.locator("#expires-hint output").waitFor({ state: "attached" });
        await page.getByLabel("Name").fill("after");
        await page.getByRole("button", { name: "Save changes" }).click();
        await page.waitForURL(/localhost.*\/edit$/);
        expect(complaints).toEqual([]);
      });
    });
    await close();
  });
});
