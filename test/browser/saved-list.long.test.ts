import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import {
  deleteElsewhere,
  openCard,
  openWithList,
  patch,
  readList,
  savedFrom,
  statusOf,
} from "./saved-list.ts";
import { choose, entryOf, eventually, shareUploadPage } from "./upload-page.ts";

const DAY_MS = 86_400_000;
const PAST = new Date(Date.now() - 60_000).toISOString();
/** Chromium reports the refused reads of images that are gone or withheld. */
const REFUSALS = { mayComplain: /status of (403|404|410|451|429)/ };

describe("the saved list of the upload page", { timeout: 60_000 }, () => {
  const shared = shareUploadPage();
  const { boat, add, onPage } = shared;

  const entry = (page: Page, name: string) => page.locator(".saved .entry").filter({ hasText: name });

  test("an entry whose saved expiry has passed keeps its PIN and shows the new expiry of the service", async () => {
    const image = await add("late.jpg");
    await patch(shared.site, image, { expiresAt: Date.now() + 29.5 * DAY_MS, name: "later.jpg" });
    await onPage(async (page) => {
      await openWithList(page, shared.site, [{ ...savedFrom(image), expiresAt: PAST }]);
      await entry(page, "later.jpg").getByText("expires in 29 days").waitFor();
      const [saved] = await readList(page, shared.site);
      expect(saved).toMatchObject({ id: image.id, pin: image.pin, name: "later.jpg" });
      expect(Date.parse(saved?.expiresAt ?? "")).toBeGreaterThan(Date.now() + 29 * DAY_MS);
      const title = entry(page, "later.jpg").locator("time");
      expect(await title.getAttribute("title")).toMatch(/^\d+ \w+ \d{4}, \d\d:\d\d (UTC|GMT|[A-Z]+)/);
    });
  });

  test("deleted and withheld images have no copy buttons, and only the deleted ones leave the list", async () => {
    const [deleted, withheld] = [await add("deleted.jpg"), await add("withheld.jpg")];
    await deleteElsewhere(shared.site, deleted);
    await shared.site.images.withhold(withheld.id, { reason: "By order." });
    await onPage(async (page) => {
      await openWithList(page, shared.site, [savedFrom(deleted), savedFrom(withheld)]);
      await entry(page, "deleted.jpg").getByText("deleted", { exact: true }).waitFor();
      await entry(page, "withheld.jpg").getByText("unavailable for legal reasons").waitFor();
      expect(await page.locator(".saved .entry :is(summary, .copier)").count()).toBe(0);
      await page.reload();
      await eventually(() => page.locator(".saved .entry").count()).toBe(1);
      expect(await readList(page, shared.site)).toMatchObject([{ id: withheld.id, pin: withheld.pin }]);

      await shared.site.images.release(withheld.id);
      const [saved] = await readList(page, shared.site);
      if (saved) await openWithList(page, shared.site, [{ ...saved, checkedAt: 0 }]);
      await entry(page, "withheld.jpg").getByText("expires in").waitFor();
    }, REFUSALS);
  });

  test("the page checks an entry when the reader returns, but not twice within a minute", async () => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      const reads: string[] = [];
      page.on("request", (request) => {
        if (request.url().endsWith(`${image.id}.json`)) reads.push(request.method());
      });
      const focus = () => page.evaluate(() => void dispatchEvent(new Event("focus")));
      await openWithList(page, shared.site, [savedFrom(image)]);
      await eventually(async () => (await readList(page, shared.site))[0]?.checkedAt ?? 0).toBeGreaterThan(0);
      await focus();
      await focus();
      expect(reads).toEqual(["GET"]);
      await deleteElsewhere(shared.site, image);
      await page.clock.install({ time: Date.now() + 61_000 });
      await focus();
      await entry(page, "boat.jpg").getByText("deleted", { exact: true }).waitFor();
      expect(reads).toEqual(["GET", "GET"]);
    }, REFUSALS);
  });

  test("without a connection and after 429 the list keeps every entry, and the page stops asking", async () => {
    const images = await Promise.all(["1", "2", "3", "4", "5", "6", "7", "8"].map(add));
    await onPage(
      async (page) => {
        let reads = 0;
        await page.route("**/api/images/*.json", (route) => {
          reads += 1;
          return route.fulfill({ status: 429, headers: { "Retry-After": "30" }, body: "" });
        });
        await openWithList(
          page,
          shared.site,
          images.map((image) => ({ ...savedFrom(image), expiresAt: PAST })),
        );
        await eventually(() => reads).toBe(4);
        await page.evaluate(() => void dispatchEvent(new Event("focus")));
        await page.unroute("**/api/images/*.json");
        await page.route("**/api/images/*.json", (route) => {
          reads += 1;
          return route.abort();
        });
        await page.reload();
        await eventually(() => reads).toBe(8);
        await entry(page, "8").getByText("expired (not confirmed yet)").waitFor();
        expect((await readList(page, shared.site)).map(({ pin }) => pin)).toEqual(
          images.map(({ pin }) => pin),
        );
      },
      { mayComplain: /status of 429|ERR_FAILED/ },
    );
  });

  test("removing an entry can be undone for 10 s, also after a reload, and then drops the PIN", async () => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      await openWithList(page, shared.site, [savedFrom(image)]);
      const remove = () => page.getByRole("button", { name: "Remove boat.jpg from this list" }).click();
      const undo = page.getByRole("button", { name: "Undo for boat.jpg" });
      await remove();
      await page
        .getByRole("region", { name: "Undo" })
        .getByText("boat.jpg removed from this list. You will no longer be able to edit or delete the image.")
        .waitFor();
      expect(await page.locator(".entry").count()).toBe(0);
      await page.reload();
      await undo.click();
      await entry(page, "boat.jpg").waitFor();
      expect(await readList(page, shared.site)).toMatchObject([{ pin: image.pin }]);

      await page.clock.install();
      await remove();
      await undo.waitFor();
      await page.clock.fastForward(9_000);
      expect(await readList(page, shared.site)).toMatchObject([{ pin: image.pin }]);
      await page.mouse.move(0, 0);
      await page.clock.fastForward(3_000);
      await eventually(() => readList(page, shared.site)).toEqual([]);
      expect(await undo.count()).toBe(0);
      expect(await statusOf(shared.site, image)).toBe(200);
    });
  });

  test("Clear list says what is lost and can be undone as a whole", async () => {
    const images = [await add("one.jpg"), await add("two.jpg")];
    await onPage(async (page) => {
      await openWithList(page, shared.site, images.map(savedFrom));
      await page.getByRole("button", { name: "Clear list of uploads" }).click();
      await page
        .locator(".toast")
        .getByText(
          "2 images removed from this list. You will no longer be able to edit or delete the images.",
        )
        .waitFor();
      await page.keyboard.press("Control+z");
      await eventually(() => page.locator(".saved .entry").count()).toBe(2);
      await eventually(() => page.getByRole("log").textContent()).toContain("2 images restored.");
    });
  });

  test("Delete waits 8 s for Undo before the image is deleted", async () => {
    await onPage(async (page) => {
      await choose(page, boat());
      const remove = page.getByRole("button", { name: "Delete boat.jpg" });
      await remove.waitFor();
      const [image] = await readList(page, shared.site);
      if (image === undefined) throw new Error("The upload is not in the list");
      await page.clock.install();
      await remove.click();
      await page.locator(".toast").getByText("boat.jpg deleted.").waitFor();
      expect(await entryOf(page, "boat.jpg").count()).toBe(0);
      await page.getByRole("button", { name: "Undo for boat.jpg" }).click();
      await page.clock.fastForward(20_000);
      expect(await statusOf(shared.site, image)).toBe(200);

      await remove.click();
      await page.mouse.move(0, 0);
      await page.clock.fastForward(10_000);
      await eventually(() => statusOf(shared.site, image)).toBe(410);
      await eventually(() => readList(page, shared.site)).toEqual([]);
      expect(await page.locator(".entry").count()).toBe(0);
    });
  });

  test("leaving the page sends a pending deletion at once", async () => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      await openCard(page, shared.site, [savedFrom(image)]);
      await page.getByRole("button", { name: "Delete boat.jpg" }).click();
      await page.locator(".toast").waitFor();
      await page.goto("about:blank");
      await eventually(() => statusOf(shared.site, image)).toBe(410);
    });
  });

  test("a deletion that could not be sent on leaving is sent when the page is opened again", async () => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      const leaving = { from: "service", atMs: 0 } as const;
      await openWithList(page, shared.site, [{ ...savedFrom(image), leaving }]);
      await eventually(() => statusOf(shared.site, image)).toBe(410);
      await eventually(() => readList(page, shared.site)).toEqual([]);
    }, REFUSALS);
  });

  test("a deletion that the service refuses brings the image back with the reason", async () => {
    const image = await add("boat.jpg");
    await onPage(async (page) => {
      await openCard(page, shared.site, [{ ...savedFrom(image), pin: "0".repeat(16) }]);
      await page.clock.install();
      await page.getByRole("button", { name: "Delete boat.jpg" }).click();
      await page.mouse.move(0, 0);
      await page.clock.fastForward(10_000);
      await page
        .locator(".toast")
        .getByText("boat.jpg was not deleted. The server says: “The PIN is wrong.”")
        .waitFor();
      await entry(page, "boat.jpg").waitFor();
      await page.getByRole("button", { name: "Dismiss" }).click();
      await eventually(() => page.locator(".toast").count()).toBe(0);
    }, REFUSALS);
  });
});
