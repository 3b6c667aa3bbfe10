import type { Page } from "playwright-core";
import sharp from "sharp";
import { expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { overflowsOf } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { withSite } from "../support/service.ts";
import {
  choose,
  copied,
  entryOf,
  eventually,
  linkOf,
  onUploadPage,
  recordAt,
  shareUploadPage,
  textFile,
} from "./upload-page.ts";

const REFUSED = /Failed to load resource/;

const shared = shareUploadPage();
const { boat, onPage } = shared;

const boats = (count: number) => Array.from({ length: count }, (_, index) => boat(`boat ${index + 1}.jpg`));

const headingOf = (page: Page) => page.locator(".upload-bar h2");

/** Answers uploads with `status` while `isDown` returns true. */
async function failUploads(page: Page, status: number, isDown: () => boolean): Promise<void> {
  await page.route("**/api/images.json", (route) =>
    isDown() ? route.fulfill({ status, json: { detail: "Full." } }) : route.continue(),
  );
}

/** Holds uploads back until the returned function is called. */
async function holdUploads(page: Page): Promise<() => void> {
  let letGo = (): void => undefined;
  const promise = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route("**/api/images.json", async (route) => {
    await promise;
    // A cancelled request cannot go on.
    await route.continue().catch(() => undefined);
  });
  return letGo;
}

test("100 small files arrive without a pause under the default limits, counted in the bar and the title", async () => {
  await withSite({ rateLimits: {} }, async (limited) => {
    await onUploadPage(limited, async (page) => {
      const statuses: number[] = [];
      page.on("response", (response) => {
        if (response.request().method() === "POST") statuses.push(response.status());
      });
      const plain = await page.title();
      const titles = await watchTitles(page);
      await choose(page, ...boats(100));
      await page.getByRole("progressbar", { name: "All uploads" }).waitFor();
      await expect
        .poll(() => headingOf(page).textContent(), { timeout: 100_000 })
        .toBe("100 images are ready to share");
      expect(new Set(statuses)).toEqual(new Set([201]));
      expect(statuses).toHaveLength(100);
      expect(await titles()).toContainEqual(expect.stringMatching(/^\(\d+\/100\) Uploading – Upload images/));
      expect(await page.title()).toBe(plain);
      expect(await page.getByRole("progressbar").count()).toBe(0);
      const links = await copied(page, page.getByRole("button", { name: "Copy all links" }));
      expect(new Set(links.split("\n")).size).toBe(100);
    });
  });
});

test("Retry all sends every failed upload again that may succeed", async () => {
  await onPage(
    async (page) => {
      let isFull = true;
      await failUploads(page, 507, () => isFull);
      await choose(page, ...boats(7), textFile("notes.txt"));
      await eventually(() => headingOf(page).textContent()).toBe("8 not uploaded");
      isFull = false;
      await page.getByRole("button", { name: "Retry all" }).click();
      await eventually(() => headingOf(page).textContent()).toBe("7 ready · 1 not uploaded");
      expect(await page.locator(".entry").first().textContent()).toContain("notes.txt");
    },
    { mayComplain: REFUSED },
  );
});

test("Cancel all cancels what is not uploaded, and later uploads work", async () => {
  await onPage(async (page) => {
    const release = await holdUploads(page);
    await choose(page, ...boats(20));
    await eventually(() => headingOf(page).textContent()).toMatch(/^Uploading: 0 of 20 · .+ of .+ kB/);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await eventually(() => page.locator(".entry").count()).toBe(0);
    await eventually(() => page.getByRole("log").textContent()).toContain("Cancelled 20 uploads.");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("chooser");
    release();
    await choose(page, boat("after.jpg"));
    await recordAt(shared.site, await linkOf(entryOf(page, "after.jpg")));
  });
});

test("rows of stored and failed uploads fit every width, and are 69 pixels high whatever the reason", async () => {
  await onPage(
    async (page) => {
      const detail = "The host accepts no picture of a boat without its sails. ".repeat(4);
      await page.route("**/api/images.json", (route) =>
        /name="name"\s+refused/.test(route.request().postDataBuffer()?.toString("latin1") ?? "")
          ? route.fulfill({ status: 403, json: { detail } })
          : route.continue(),
      );
      const located = await sharp(await jpegPhoto(120, 80))
        .withExif({ IFD0: { Model: "Camera 3" } })
        .toBuffer();
      const more = [textFile(`${"W".repeat(120)}.txt`), { ...boat("located.jpg"), buffer: located }];
      await choose(page, ...boats(6), ...more, boat("refused.jpg"));
      await eventually(() => headingOf(page).textContent()).toBe("7 ready · 2 not uploaded");
      await page.getByText("Not kept: place and camera data").waitFor();
      const heights = () =>
        page.locator(".entry").evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      for (const width of [360, 768, 1280]) {
        await page.setViewportSize({ width, height: 900 });
        expect(Math.max(...(await heights())), `${width} px`).toBeLessThanOrEqual(69);
      }
      const reason = entryOf(page, "refused.jpg").locator("summary");
      const lines = () => reason.evaluate((line) => line.scrollWidth <= line.clientWidth);
      expect(await lines()).toBe(false);
      await reason.click();
      expect(await lines()).toBe(true);
      expect(await reason.textContent()).toContain(detail.trim().slice(0, -1));
      const row = entryOf(page, "boat 3.jpg");
      expect(await copied(page, row.getByRole("button", { name: "Copy link to boat 3.jpg" }))).toMatch(
        /\/view$/,
      );
      expect(await overflowsOf(page)).toEqual([]);
      expect(await axeFaults(page)).toEqual([]);
    },
    { mayComplain: REFUSED },
  );
});

/** Collects the titles of the tab from now on. */
async function watchTitles(page: Page): Promise<() => Promise<string[]>> {
  const collected = await page.evaluateHandle(() => {
    const titles: string[] = [];
    const head = document.head;
    new MutationObserver(() => titles.push(document.title)).observe(head, { childList: true, subtree: true });
    return titles;
  });
  return () => collected.jsonValue();
}
