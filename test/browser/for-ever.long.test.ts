import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import type { Created } from "../support/service.ts";
import { readList } from "./saved-list.ts";
import { choose, entryOf, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

const DAY_MS = 86_400_000;

const shared = shareUploadPage({ maxLifetimeMs: null });
const { boat, onPage } = shared;
const notice = (page: Page) => page.locator(".notice").textContent();
const recordOf = (image: Created) => recordAt(shared.site, `${image.url}/view`);

test("the upload page keeps an image for ever, lists it after a reload, remembers the choice, and has what the edit page changes", async () => {
  await onPage(async (page) => {
    await page.getByLabel("Delete after").selectOption("Never");
    await choose(page, boat());
    const entry = entryOf(page, "boat.jpg");
    expect((await recordAt(shared.site, await linkOf(entry))).expiresAt).toBe(null);
    await entry.getByText("never expires").waitFor();
    // Without a warning, and without a question before the page is left: the list is saved.
    expect(await page.getByText("This browser can’t keep").count()).toBe(0);
    await page.reload();
    await page.getByText("boat.jpg", { exact: true }).waitFor();
    expect(await page.getByText("never expires").count()).toBe(1);
    expect(await readList(page, shared.site)).toMatchObject([{ name: "boat.jpg", expiresAt: null }]);
    expect(await page.getByLabel("Delete after").inputValue()).toBe("Infinity");

    await page.getByLabel("Delete after").selectOption("On a date…");
    await page.getByLabel("Delete on").fill("9999-01-01T00:00");
    await choose(page, { ...boat("dated.jpg"), buffer: Buffer.concat([shared.photo, Buffer.from("2")]) });
    const dated = await recordAt(shared.site, await linkOf(entryOf(page, "dated.jpg")));
    expect(String(dated.expiresAt)).toMatch(/^999[89]-/);
    // The link of the page goes to the viewer, which shows the uploader's bar.
    const [, link = ""] = (await readList(page, shared.site)).map(({ url }) => url);
    await page.goto(`${link}/view`);
    await page.getByLabel("More", { exact: true }).click();
    await page.getByRole("group", { name: "Your upload" }).waitFor();
    expect(await page.locator("dt", { hasText: "Expires" }).locator("+ dd").textContent()).toBe("Never");

    const saved = async () => (await readList(page, shared.site)).find(({ url }) => url === dated.url);
    expect((await saved())?.expiresAt).toMatch(/^999[89]-/);
    await page.goto(`${dated.url}/edit?pin=${(await saved())?.pin}`);
    await page.getByRole("radio", { name: "Never", exact: true }).check();
    await page.getByRole("button", { name: "Save changes" }).click();
    await expect.poll(async () => (await saved())?.expiresAt).toBe(null);
  });
});

test.each([true, false])(
  "the edit page removes an expiry and sets it again (JavaScript: %s)",
  async (javaScriptEnabled) => {
    const image = await shared.add("dated");
    await withPage({ javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      await page.getByRole("radio", { name: "Never", exact: true }).check();
      await page.getByRole("button", { name: "Save changes" }).click();
      await expect.poll(() => notice(page)).toBe("The image no longer expires.");
      expect(await page.locator(".subject").textContent()).toContain("Never expires");
      expect((await recordOf(image)).expiresAt).toBe(null);

      await page.getByLabel("Name").fill("renamed");
      await page.getByRole("button", { name: "Save changes" }).click();
      await expect.poll(() => notice(page)).toBe("Name updated.");
      expect(await recordOf(image)).toMatchObject({ name: "renamed", expiresAt: null });

      await page.getByRole("radio", { name: "In", exact: true }).check();
      await page.getByLabel("Time from now").selectOption({ label: "30 days" });
      await page.getByRole("button", { name: "Save changes" }).click();
      await expect.poll(() => notice(page)).toMatch(/^Expiry changed to /);
      const { expiresAt } = await recordOf(image);
      expect(Math.round((Date.parse(String(expiresAt)) - Date.now()) / DAY_MS)).toBe(30);
    });
  },
);

test("the form without JavaScript keeps an image for ever, and its reply says so", async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${shared.site.base}/`);
    await page.getByLabel("Image", { exact: true }).setInputFiles(boat());
    await page.getByLabel("Delete after").selectOption("Never");
    await page.getByRole("button", { name: "Upload" }).click();
    await page.getByText("Never expires").waitFor();
  });
});
