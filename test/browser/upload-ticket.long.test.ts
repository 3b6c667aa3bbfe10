import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { choose, entryOf, eventually, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

describe("the upload page with a ticket", { timeout: 60_000 }, () => {
  const shared = shareUploadPage({ authorize: (_call, action) => action !== "create" });
  const refused = /status of 40[39]/;

  /** Opens the page with a ticket in its fragment, as a link does. */
  async function openWith(page: Page, terms = {}): Promise<string> {
    const { site } = shared;
    const { url } = await site.images.ticket(terms);
    await page.goto("about:blank");
    await page.goto(`${site.base}/${url.replace("/api/images.json?", "#")}`);
    await page.getByText("Drop images here").waitFor();
    return url.slice(url.indexOf("=") + 1);
  }

  test("uploads without access of its own, and the ticket leaves the address bar and stays for a reload", async () => {
    await shared.onPage(async (page) => {
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      const ticket = await openWith(page, { name: "Receipt" });
      expect(page.url()).toBe(`${shared.site.base}/`);
      await page.reload();
      await page.getByText("Drop images here").waitFor();
      await choose(page, shared.boat());
      const entry = entryOf(page, "Receipt");
      expect(await recordAt(shared.site, await linkOf(entry))).toMatchObject({ name: "Receipt" });
      const withTicket = requests.filter((url) => url.includes(ticket));
      expect(withTicket).toEqual([`${shared.site.base}/api/images.json?ticket=${ticket}`]);
      for (const name of [/^Edit/, /^Delete/, /^Copy edit link/]) {
        expect(await entry.getByRole("button", { name }).or(entry.getByRole("link", { name })).count()).toBe(
          0,
        );
      }
      expect(await entry.getByLabel(/^Name of/).count()).toBe(0);
      await entry.getByRole("link", { name: "Open Receipt" }).click();
      await page.getByRole("heading", { name: "Receipt" }).waitFor();
      expect(await page.getByText("You uploaded this").count()).toBe(0);
    });
  });

  test("with the permission to show the PIN, the image can be edited and keeps its PIN after a second upload", async () => {
    await shared.onPage(async (page) => {
      await openWith(page, { pin: true, name: "Mine" });
      await choose(page, shared.boat());
      const entry = entryOf(page, "Mine");
      const edit = entry.getByRole("link", { name: /^Edit/ });
      const address = await edit.getAttribute("href");
      expect(address).toMatch(/\/edit\?pin=[0-9A-Z]{16}$/);
      await choose(page, shared.boat());
      await eventually(() => page.locator(".entry.ready").count()).toBe(2);
      expect(await edit.first().getAttribute("href")).toBe(address);
    });
  });

  test("a second file, and a link with a wrong ticket, are refused with the reason", async () => {
    await shared.onPage(
      async (page) => {
        await openWith(page);
        await choose(page, shared.boat());
        await linkOf(entryOf(page, "boat.jpg"));
        const second = { name: "second.png", mimeType: "image/png", buffer: await pngPhoto(20, 20) };
        await choose(page, second);
        await page.getByText("This ticket was sent before with another upload").first().waitFor();
        // The same document: only the fragment differs.
        await page.evaluate(() => location.assign("#ticket=wrong"));
        await eventually(() => page.url()).toBe(`${shared.site.base}/`);
        await choose(page, { ...second, name: "third.png" });
        await page.getByText("The ticket is not valid").first().waitFor();
      },
      { mayComplain: refused },
    );
  });
});
