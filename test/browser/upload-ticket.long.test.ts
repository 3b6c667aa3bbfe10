import { createMemoryBlobStore } from "@outrigger/core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { holdUp, tapStore } from "../../packages/core/test/tapped-store.ts";
import { pngPhoto } from "../support/pictures.ts";
import { startSite } from "../support/service.ts";
import {
  choose,
  entryOf,
  eventually,
  linkOf,
  menuItem,
  onUploadPage,
  recordAt,
  shareUploadPage,
} from "./upload-page.ts";

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
      await (await menuItem(entry, "Remove from this list")).waitFor();
      const actions = await entry.locator(".menu :is(a, button)").allTextContents();
      expect(actions.filter((action) => /edit|delete/i.test(action))).toEqual([]);
      await page.keyboard.press("Escape");
      await entry.getByRole("link", { name: "Open Receipt" }).click();
      await page.getByRole("heading", { name: "Receipt" }).waitFor();
      expect(await page.locator(".own").count()).toBe(0);
    });
  });

  test("with the permission to show the PIN, the image can be edited and keeps its PIN after a second upload", async () => {
    await shared.onPage(
      async (page) => {
        await openWith(page, { pin: true, name: "Mine" });
        // The second gets the reply to the first, without the PIN.
        await choose(page, shared.boat(), shared.boat());
        await eventually(() => page.locator(".entry.ready").count()).toBe(2);
        const entry = entryOf(page, "Mine");
        for (const edit of await entry.getByRole("link", { name: /^Edit/ }).all())
          expect(await edit.getAttribute("href")).toMatch(/\/edit\?pin=[0-9A-Z]{16}$/);
      },
      { mayComplain: refused },
    );
  });

  test("forgets a ticket that was used or refused, also for a reload, and shows why a link with another one fails", async () => {
    await shared.onPage(
      async (page) => {
        const used = await openWith(page);
        const kept = () => page.evaluate(() => history.state);
        expect(await kept()).toEqual({ ticket: used });
        await choose(page, shared.boat());
        await linkOf(entryOf(page, "boat.jpg"));
        await eventually(kept).toBeNull();
        const second = { name: "second.png", mimeType: "image/png", buffer: await pngPhoto(20, 20) };
        await choose(page, second);
        await page.getByText("This is not allowed").first().waitFor();
        await page.evaluate((ticket) => location.assign(`#ticket=${ticket}`), used);
        await eventually(kept).toEqual({ ticket: used });
        await choose(page, { ...second, name: "other.png" });
        await page.getByText("This ticket was sent before with another upload").first().waitFor();
        // The same document: only the fragment differs.
        await page.evaluate(() => location.assign("#ticket=wrong"));
        await eventually(() => page.url()).toBe(`${shared.site.base}/`);
        await choose(page, { ...second, name: "third.png" });
        await page.getByText("The ticket is not valid").first().waitFor();
        expect(await kept()).toBeNull();
      },
      { mayComplain: refused },
    );
  });

  test("an upload that is cancelled too late stays in the list, with the reason", async () => {
    const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
    const storage = tapStore(createMemoryBlobStore(), held.tap);
    const site = await startSite({ storage, secret: "s".repeat(32), authorize: () => undefined });
    try {
      await onUploadPage(shared.browser, site, async (page) => {
        const { url } = await site.images.ticket();
        await page.evaluate((ticket) => location.assign(`#${ticket}`), url.slice(url.indexOf("ticket=")));
        await eventually(() => page.url()).toBe(`${site.base}/`);
        await choose(page, shared.boat());
        await held.reached;
        await page.getByRole("button", { name: "Cancel boat.jpg" }).click();
        held.letGo();
        const text = "boat.jpg was not deleted. It was already uploaded. It can’t be deleted here.";
        await eventually(() => page.getByRole("log").textContent()).toContain(text);
        await page.locator(".saved .entry").filter({ hasText: "boat.jpg" }).waitFor();
      });
    } finally {
      await site.close();
    }
  });
});
