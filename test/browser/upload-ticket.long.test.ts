import { createMemoryBlobStore, type TicketOptions } from "@outrigger/core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { holdUp, tapStore } from "../../packages/core/test/tapped-store.ts";
import { pngPhoto } from "../support/pictures.ts";
import { startSite, withSite } from "../support/service.ts";
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

const USED = "This upload link was used already. Ask for a new one.";
const OVER = "This upload link has ended or is incomplete. Ask for a new one.";

const shared = shareUploadPage({ authorize: (_call, action) => action !== "create" });
const refused = /status of 40[39]/;

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

/** Checks that the page says why it takes no file, and offers nothing. */
async function expectEnd(page: Page, text: string): Promise<void> {
  await page.getByRole("alert").getByText(text, { exact: true }).waitFor();
  expect(await page.locator("input:not([type=search]), select, .drop-area").count()).toBe(0);
  expect(await page.getByRole("button", { name: /Try again|Retry/ }).count()).toBe(0);
  expect(await page.evaluate(() => history.state)).toBeNull();
}

/** Uploads by a ticket as another client. */
async function useElsewhere(ticket: string): Promise<number> {
  const form = new FormData();
  form.set("imagedata", new Blob([new Uint8Array(await pngPhoto(30, 20))], { type: "image/png" }), "a.png");
  const address = `${shared.site.base}/api/images.json?ticket=${ticket}`;
  return (await fetch(address, { method: "POST", body: form })).status;
}

test("a page with a ticket uploads without access of its own, and the ticket leaves the address bar and stays for a reload", async () => {
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
    const [terms, images] = ["tickets", "images"].map(
      (path) => `${shared.site.base}/api/${path}.json?ticket=${ticket}`,
    );
    // One look each time that the page is opened.
    expect(withTicket).toEqual([terms, terms, images]);
    await (await menuItem(entry, "Remove from this list")).waitFor();
    const actions = await entry.locator(".menu :is(a, button)").allTextContents();
    expect(actions.filter((action) => /edit|delete/i.test(action))).toEqual([]);
    await page.keyboard.press("Escape");
    await entry.getByRole("link", { name: "Open Receipt" }).click();
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
      await linkOf(entryOf(tab, "Mine"));
      await (await menuItem(entryOf(tab, "Mine"), "Edit name")).waitFor();
      const edit = entryOf(tab, "Mine").getByRole("link", { name: /^Edit/ });
      expect(await edit.getAttribute("href")).toMatch(/\/edit\?pin=[0-9A-Z]{16}$/);
      await expectEnd(tab, USED);
    }
  });
});

test("the page shows what the ticket fixes, takes one file, and refuses others before they are sent", async () => {
  await shared.onPage(async (page) => {
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.method() === "POST") sent.push(request.url());
    });
    const expiresAt = new Date(Date.now() + 364 * 86_400_000);
    await openWith(page, { expiresAt, name: "Receipt", types: ["image/png"], maxBytes: 9_000 });
    await page.getByText(/^Kept until .*\b20\d\d/).waitFor();
    await page.getByText("Name: Receipt").waitFor();
    await page.getByText("One file: PNG, up to 8.79 kB").waitFor();
    expect(
      await page.locator("select, [type=text], [type=datetime-local], [multiple], .camera").count(),
    ).toBe(0);
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
    expect(sent).toEqual([]);
    await page.getByRole("button", { name: "Dismiss Receipt" }).click();
    await choose(page, png);
    const record = await recordAt(shared.site, await linkOf(entryOf(page, "Receipt")));
    expect(record).toMatchObject({ name: "Receipt", expiresAt: expiresAt.toISOString() });
    await expectEnd(page, USED);
  });
});

test("a ticket that fixes nothing leaves the choice of name and expiry, and takes one file", async () => {
  await shared.onPage(async (page) => {
    await openWith(page);
    await page.getByLabel("Delete after").selectOption("1 hour");
    await page.getByLabel("Name (optional)").fill("Mine");
    await choose(page, shared.boat());
    const { expiresAt, name } = await recordAt(shared.site, await linkOf(entryOf(page, "Mine")));
    expect([name, Math.round((Date.parse(String(expiresAt)) - Date.now()) / 60_000)]).toEqual(["Mine", 60]);
  });
});

test("a ticket that was used, before the page was opened or since, ends in a sentence", async () => {
  await shared.onPage(
    async (page) => {
      const ticket = await openWith(page);
      expect(await useElsewhere(ticket)).toBe(201);
      await choose(page, shared.boat());
      await entryOf(page, "boat.jpg").getByText("This ticket was sent before with another upload").waitFor();
      await expectEnd(page, USED);
      await open(page, ticket);
      await expectEnd(page, USED);
      // The same document: only the fragment differs.
      const { url } = await shared.site.images.ticket();
      await page.evaluate((other) => location.assign(`#${other}`), url.slice(url.indexOf("ticket=")));
      await choose(page, shared.boat());
      await linkOf(entryOf(page, "boat.jpg"));
      await expectEnd(page, USED);
      await page.evaluate(() => location.assign("#ticket=wrong"));
      await expectEnd(page, OVER);
      expect(page.url()).toBe(`${shared.site.base}/`);
    },
    { mayComplain: refused },
  );
});

test("a ticket that is late, before the page was opened or since, ends in a sentence", async () => {
  let now = Date.now();
  await withSite({ now: () => now, authorize: (_call, action) => action !== "create" }, async (site) => {
    await onUploadPage(
      site,
      async (page) => {
        const { url } = await site.images.ticket({ expiresIn: "10m" });
        const fragment = url.slice(url.indexOf("ticket="));
        await page.evaluate((other) => location.assign(`#${other}`), fragment);
        await page.getByText("One file:").waitFor();
        now += 11 * 60_000;
        await choose(page, shared.boat());
        await entryOf(page, "boat.jpg").getByText("The ticket expired at").waitFor();
        await expectEnd(page, OVER);
        await page.evaluate((other) => location.assign(`#${other}`), fragment);
        await expectEnd(page, OVER);
      },
      { mayComplain: refused },
    );
  });
});

test("without a reply about its terms, the ticket is sent as it is", async () => {
  await shared.onPage(
    async (page) => {
      // Each has a name of its own: the list keeps the uploads before.
      for (const [name, answer] of [
        ["Busy", { status: 503 }],
        ["Portal", { status: 200, body: "<p>Log in</p>" }],
        ["Lost", null],
      ] as const) {
        await page.route("**/api/tickets.json?*", (route) =>
          answer ? route.fulfill(answer) : route.abort(),
        );
        await openWith(page, { name });
        await page.getByLabel("Delete after").waitFor();
        await choose(page, shared.boat());
        await linkOf(entryOf(page, name));
        await page.unroute("**/api/tickets.json?*");
      }
    },
    { mayComplain: /Failed to load resource/ },
  );
});

test("an upload that is cancelled too late stays in the list, with the reason", async () => {
  const held = holdUp(({ method, key }) => method === "put" && key.endsWith("/original"));
  const storage = tapStore(createMemoryBlobStore(), held.tap);
  const site = await startSite({ storage, secret: "s".repeat(32), authorize: () => undefined });
  try {
    await onUploadPage(site, async (page) => {
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
