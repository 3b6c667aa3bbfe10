import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { type Created, upload } from "../support/service.ts";
import { readList } from "./saved-list.ts";
import { choose, entryOf, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

const DAY_MS = 86_400_000;

describe("pages of a service without a longest lifetime, in Chromium", () => {
  const shared = shareUploadPage({ maxLifetimeMs: null });
  const { boat, onPage } = shared;
  const kept = () => upload(shared.site, shared.photo, "image/jpeg", { name: "kept", expiresAt: "never" });
  const notice = (page: Page) => page.locator(".notice").textContent();
  const recordOf = (image: Created) => recordAt(shared.site, `${image.url}/view`);

  test("the upload page keeps an image for ever, lists it after a reload, and remembers the choice", async () => {
    await onPage(async (page) => {
      await page.getByLabel("Delete after").selectOption("Never");
      await choose(page, boat());
      const entry = entryOf(page, "boat.jpg");
      expect((await recordAt(shared.site, await linkOf(entry))).expiresAt).toBe(null);
      await entry.getByText("never expires").waitFor();
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
    });
  });

  test.each([true, false])(
    "the edit page removes an expiry and sets it again (JavaScript: %s)",
    async (javaScriptEnabled) => {
      const image = await shared.add("dated");
      await withPage(shared.browser, { javaScriptEnabled }, async (page) => {
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

  test("the edit page writes into the list of the browser that an image has lost its expiry", async () => {
    await onPage(async (page) => {
      await choose(page, boat("mine.jpg"));
      const link = await linkOf(entryOf(page, "mine.jpg"));
      const saved = async () => (await readList(page, shared.site)).find(({ name }) => name === "mine.jpg");
      const { url = "", pin = "" } = (await saved()) ?? {};
      expect(`${url}/view`).toBe(link);
      await page.goto(`${url}/edit?pin=${pin}`);
      await page.getByRole("radio", { name: "Never", exact: true }).check();
      await page.getByRole("button", { name: "Save changes" }).click();
      await expect.poll(async () => (await saved())?.expiresAt).toBe(null);
    });
  });

  test("the form without JavaScript keeps an image for ever, and its reply says so", async () => {
    await withPage(shared.browser, { javaScriptEnabled: false }, async (page) => {
      await page.goto(`${shared.site.base}/`);
      await page.getByLabel("Image", { exact: true }).setInputFiles(boat());
      await page.getByLabel("Delete after").selectOption("Never");
      await page.getByRole("button", { name: "Upload" }).click();
      await page.getByText("Never expires").waitFor();
    });
  });

  test("the edit page of an image without an expiry opens where the host has limited lifetimes since", async () => {
    const image = await kept();
    await withPage(shared.browser, {}, async (page) => {
      await page.goto(image.editUrl);
      expect(await page.locator(".subject").textContent()).toContain("Never expires");
      expect(await page.getByRole("radio", { name: "Don’t change" }).isChecked()).toBe(true);
    });
  });
});
