import type { TicketOptions } from "@outrigger/core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { pngPhoto } from "../support/pictures.ts";
import { withSite } from "../support/quick-site.ts";
import { postImage } from "../support/service.ts";
import { choose, entryOf, linkOf, menuItem, onUploadPage, shareUploadPage, storedAt } from "./upload-page.ts";

const USED = "This upload link was used already. Ask for a new one.";
const OVER = "This upload link has ended or is incomplete. Ask for a new one.";

let aheadMs = 0;
const shared = shareUploadPage({
  now: () => Date.now() + aheadMs,
  authorize: (_call, action) => action !== "create",
});
const stored = (page: Page, name: string) => storedAt(shared.site, page, name);

/** Opens the page with a ticket in its fragment, as a link does. */
async function openWith(page: Page, terms: TicketOptions = {}): Promise<string> {
  const { url } = await shared.site.images.ticket(terms);
  const ticket = url.slice(url.indexOf("=") + 1);
  await open(page, ticket);
  await page.getByText("Drop images here").waitFor();
  return ticket;
}

async function open(page: Page, ticket: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${shared.site.base}/#ticket=${ticket}`);
}

/** Follows a link to the open page that differs in its ticket alone. */
function follow(page: Page, ticket: string): Promise<void> {
  return page.evaluate((text) => location.assign(`#ticket=${text}`), ticket);
}

/** Checks that the page says why it takes no file, and offers nothing. */
async function expectEnd(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").getByText(text, { exact: true }).waitFor();
  expect(await page.locator("input:not([type=search]), select, .drop-area").count()).toBe(0);
  expect(await page.getByRole("button", { name: /Try again|Retry/ }).count()).toBe(0);
  expect(await page.evaluate(() => history.state)).toBeNull();
}

test("with a ticket, the page shows what it fixes, refuses other files before they are sent, and uploads one without access of its own", async () => {
  await shared.onPage(async (page) => {
    const requests: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    const expiresAt = new Date(Date.now() + 364 * 86_400_000);
    const ticket = await openWith(page, {
      expiresAt,
      name: "Receipt",
      types: ["image/png"],
      maxBytes: 9_000,
    });
    expect(page.url()).toBe(`${shared.site.base}/`);
    await page.reload();
    await page.getByText(/^Kept until .*\b20\d\d/).waitFor();
    await page.getByText("Name: Receipt").waitFor();
    await page.getByText("One file: PNG, up to 8.79 kB").waitFor();
    const choices = page.locator("select, [type=text], [type=datetime-local], [multiple], .camera");
    expect(await choices.count()).toBe(0);
    await choose(page, shared.boat());
    await entryOf(page, "Receipt").getByText("This file type isn’t supported. Use PNG.").waitFor();
    await page.getByRole("button", { name: "Dismiss Receipt" }).click();
    const png = { name: "a.png", mimeType: "image/png", buffer: await pngPhoto(20, 20) };
    await choose(page, { ...png, buffer: Buffer.concat([png.buffer, Buffer.alloc(9_000)]) });
    await entryOf(page, "Receipt").getByText("The limit is 8.79 kB.").waitFor();
    await page.evaluate(() => {
      const dataTransfer = new DataTransfer();
      for (const name of ["a.png", "b.png"]) dataTransfer.items.add(new File(["x"], name));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    });
    await page.locator(".advice").getByText("This upload link takes one file.").waitFor();
    expect(await page.getByRole("button", { name: /Try again|Retry/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Dismiss Receipt" }).click();
    await choose(page, png);
    const entry = entryOf(page, "Receipt");
    expect(await stored(page, "Receipt")).toMatchObject({
      name: "Receipt",
      expiresAt: expiresAt.toISOString(),
    });
    await expectEnd(page, USED);
    // One look each time that the page is opened.
    const [terms, images] = ["tickets", "images"].map(
      (path) => `${shared.site.base}/api/${path}.json?ticket=`,
    );
    expect(requests.filter((url) => url.includes(ticket))).toEqual(
      [terms, terms, images].map((address) => address + ticket),
    );
    await (await menuItem(entry, "Remove from this list")).waitFor();
    const actions = await entry.locator(".menu :is(a, button)").allTextContents();
    expect(actions.filter((action) => /edit|delete/i.test(action))).toEqual([]);
    await page.goto(await linkOf(entry));
    await page.getByRole("heading", { name: "Receipt" }).waitFor();
    expect(await page.locator(".own").count()).toBe(0);
  });
});

test("with a ticket that permits to show the PIN, the image can be edited and keeps its PIN after the same upload in another tab", async () => {
  await shared.onPage(async (page) => {
    const ticket = await openWith(page, { pin: true, name: "Mine" });
    const other = await page.context().newPage();
    await open(other, ticket);
    await other.getByText("Name: Mine").waitFor();
    // The second gets the reply to the first, without the PIN.
    for (const tab of [page, other]) {
      await choose(tab, shared.boat());
      await stored(tab, "Mine");
      const edit = await menuItem(entryOf(tab, "Mine"), "Edit name");
      expect(await edit.getAttribute("href")).toMatch(/\/edit\?pin=[0-9A-Z]{16}$/);
      await expectEnd(tab, USED);
    }
  });
});

test("a ticket that is used, late or wrong, before the page is opened or since, ends in a sentence", async () => {
  const use = async (page: Page) => {
    const ticket = await openWith(page);
    const elsewhere = { base: `${shared.site.base}` };
    const suffix = `json?ticket=${ticket}`;
    expect((await postImage(elsewhere, await pngPhoto(30, 20), "image/png", {}, suffix)).status).toBe(201);
    await choose(page, shared.boat());
    await entryOf(page, "boat.jpg").getByText("This ticket was sent before with another upload").waitFor();
    await expectEnd(page, USED);
    await open(page, ticket);
    await expectEnd(page, USED);
    await follow(page, "wrong");
    await expectEnd(page, OVER);

    const late = await openWith(page, { expiresIn: "10m" });
    await page.getByText("One file:").waitFor();
    aheadMs = 11 * 60_000;
    await choose(page, shared.boat());
    await entryOf(page, "boat.jpg").getByText("The ticket expired at").waitFor();
    await expectEnd(page, OVER);
    await follow(page, late);
    await expectEnd(page, OVER);
    expect(page.url()).toBe(`${shared.site.base}/`);
  };
  await shared.onPage(use, { mayComplain: /status of 40[39]/ }).finally(() => {
    aheadMs = 0;
  });
});

test("where a ticket fixes nothing, or the service does not tell its terms, the uploader chooses", async () => {
  const use = async (page: Page) => {
    for (const [name, answer] of [
      ["Free", undefined],
      ["Busy", { status: 503 }],
      ["Portal", { status: 200, body: "<p>Log in</p>" }],
      ["Lost", null],
    ] as const) {
      await page.route("**/api/tickets.json?*", (route) => {
        if (answer === undefined) return route.continue();
        return answer === null ? route.abort() : route.fulfill(answer);
      });
      await openWith(page);
      await page.getByLabel("Delete after").selectOption("1 hour");
      await page.getByLabel("Name (optional)").fill(name);
      await choose(page, shared.boat());
      const { expiresAt } = await stored(page, name);
      expect(Math.round((Date.parse(String(expiresAt)) - Date.now()) / 60_000)).toBe(60);
      await page.unrouteAll();
    }
  };
  await shared.onPage(use, { mayComplain: /Failed to load resource/ });
});

test("an upload that is cancelled too late stays in the list, with the reason", async () => {
  let inspected = () => {};
  const inspecting = new Promise<void>((resolve) => {
    inspected = resolve;
  });
  let letGo = () => {};
  const isOver = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const inspect = async () => {
    inspected();
    await isOver;
    return "accept" as const;
  };
  await withSite({ inspect }, async (site) => {
    await onUploadPage(site, async (page) => {
      const { url } = await site.images.ticket();
      await follow(page, url.slice(url.indexOf("=") + 1));
      await page.getByText("One file:").waitFor();
      await choose(page, shared.boat());
      await inspecting;
      await page.getByRole("button", { name: "Cancel boat.jpg" }).click();
      letGo();
      const text = "boat.jpg was not deleted. It was already uploaded. It can’t be deleted here.";
      await expect.poll(() => page.getByRole("log").textContent()).toContain(text);
      await page.locator(".saved .entry").filter({ hasText: "boat.jpg" }).waitFor();
    });
  });
});
