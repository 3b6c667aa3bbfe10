import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import { overflowsOf } from "../support/chromium.ts";
import { addressOf, type Created } from "../support/service.ts";
import { choose, copied, entryOf, menuItem, readList, shareUploadPage } from "./upload-page.ts";

const DAY_MS = 86_400_000;
const PAST = new Date(Date.now() - 60_000).toISOString();
/** Chromium reports the refused reads of images that are gone or withheld. */
const REFUSALS = { mayComplain: /status of (403|404|410|451|429)/ };

const shared = shareUploadPage();
const { boat, add, onPage } = shared;

const entry = (page: Page, name: string) => page.locator(".saved .entry").filter({ hasText: name });
const statusOf = async ({ id }: { id: string }) => (await fetch(addressOf(shared.site, id, "json"))).status;
const listOf = (page: Page) => readList(page, shared.site);
const press = async (page: Page, name: string, act: string) =>
  (await menuItem(entry(page, name), act)).click();

/** The entry of an image that the service answered. */
function savedFrom(created: Created): SavedImage {
  const { id, pin, url, name, type, expiresAt } = created;
  return { id, pin, url, name: String(name), type: String(type), expiresAt: String(expiresAt) };
}

/** Replaces the list, as another window would, and opens the page again. */
async function openWith(page: Page, images: readonly SavedImage[]): Promise<void> {
  await page.evaluate(([key = "", text = ""]) => localStorage.setItem(key, text), [
    `outrigger uploads ${shared.site.base}`,
    JSON.stringify(images),
  ] as const);
  await page.reload();
  await page.getByText("Drop images here").waitFor();
}

/** Answers the next dialogs of the page in this order. @returns their texts so far */
function answerDialogs(page: Page, answers: boolean[]): string[] {
  const asked: string[] = [];
  page.on("dialog", async (dialog) => {
    asked.push(dialog.message());
    if (answers.shift() === true) await dialog.accept();
    else await dialog.dismiss();
  });
  return asked;
}

test("an entry whose saved expiry has passed keeps its PIN and shows the new expiry and description of the service", async () => {
  const image = await add("late.jpg");
  await shared.site.images.edit(image.id, {
    expiresAt: new Date(Date.now() + 29.2 * DAY_MS),
    name: "later.jpg",
    description: "A <boat>",
  });
  await onPage(async (page) => {
    await openWith(page, [{ ...savedFrom(image), expiresAt: PAST }]);
    await entry(page, "later.jpg").getByText("29 days left").waitFor();
    const [saved] = await listOf(page);
    expect(saved).toMatchObject({ id: image.id, pin: image.pin, name: "later.jpg" });
    expect(Date.parse(saved?.expiresAt ?? "")).toBeGreaterThan(Date.now() + 29 * DAY_MS);
    const markdown = await copied(page, await menuItem(entry(page, "later.jpg"), "Markdown"));
    expect(markdown).toContain("[![A \\<boat\\>](");
    const title = entry(page, "later.jpg").locator("time");
    expect(await title.getAttribute("title")).toMatch(/^\w+ \d+, \d{4}, \d+:\d\d [AP]M (UTC|GMT|[A-Z]+)/);
  });
});

test("deleted and withheld images have no copy buttons, and only the deleted ones leave the list", async () => {
  const [deleted, withheld] = [await add("deleted.jpg"), await add("withheld.jpg")];
  await shared.site.images.remove(deleted.id);
  await shared.site.images.withhold(withheld.id, { reason: "By order." });
  await onPage(async (page) => {
    await openWith(page, [savedFrom(deleted), savedFrom(withheld)]);
    await entry(page, "deleted.jpg").getByText("deleted", { exact: true }).waitFor();
    await entry(page, "withheld.jpg").getByText("unavailable for legal reasons").waitFor();
    expect(await page.locator(".saved").getByRole("button", { name: /^Copy/ }).count()).toBe(0);
    await page.reload();
    await expect.poll(() => page.locator(".saved .entry").count()).toBe(1);
    expect(await listOf(page)).toMatchObject([{ id: withheld.id, pin: withheld.pin }]);

    await shared.site.images.release(withheld.id);
    const [saved] = await listOf(page);
    if (saved) await openWith(page, [{ ...saved, checkedAt: 0 }]);
    await entry(page, "withheld.jpg").getByText("hours left").waitFor();
  }, REFUSALS);
});

test("one entry and selected ones are removed only after the page has said that their PINs are lost with them", async () => {
  const images = [await add("one.jpg"), await add("two.jpg"), await add("boat.jpg")];
  await onPage(async (page) => {
    await openWith(page, images.map(savedFrom));
    const asked = answerDialogs(page, [false, true, false, true]);
    await press(page, "boat.jpg", "Remove from this list");
    expect(await listOf(page)).toHaveLength(3);
    await press(page, "boat.jpg", "Remove from this list");
    await expect.poll(async () => (await listOf(page)).length).toBe(2);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("button", { name: "Select all" }).click();
    const clear = page.getByRole("button", { name: "Remove 2 from this list" });
    await clear.click();
    expect(await page.locator(".saved .entry").count()).toBe(2);
    await clear.click();
    await expect.poll(() => listOf(page)).toEqual([]);
    const one = "Remove boat.jpg from this list? You will no longer be able to edit or delete the image.";
    const two = "Remove 2 images from this list? You will no longer be able to edit or delete the images.";
    expect(asked).toEqual([one, one, two, two]);
    expect(await Promise.all(images.map(statusOf))).toEqual([200, 200, 200]);
  });
});

test("the list is in the order of choice, is searched by name, and its selected images are copied and deleted", async () => {
  const images = await Promise.all(["a", "b", "c", "d", "e", "f", "g"].map((name) => add(`${name}.jpg`)));
  const saved = images.map((image, index) => ({ ...savedFrom(image), chosenAt: (index * 3) % 7 }));
  await onPage(async (page) => {
    await openWith(page, saved);
    const titles = () => page.locator(".saved .title").allTextContents();
    expect(await titles()).toEqual(["c.jpg", "e.jpg", "g.jpg", "b.jpg", "d.jpg", "f.jpg", "a.jpg"]);
    const all = page.getByRole("button", { name: "Copy all links" });
    expect((await copied(page, all)).split("\n")).toHaveLength(7);
    await page.getByLabel("Search your uploads").fill("B.");
    expect(await titles()).toEqual(["b.jpg"]);
    await page.getByLabel("Search your uploads").fill("");
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("checkbox", { name: "Select c.jpg" }).check();
    await page.getByRole("checkbox", { name: "Select a.jpg" }).check();
    const links = await copied(page, page.getByRole("button", { name: "Copy 2 links" }));
    expect(links).toBe([images[2]?.url, images[0]?.url].map((url) => `${url}/view`).join("\n"));
    const asked = answerDialogs(page, [true]);
    await page.getByRole("button", { name: "Delete 2…" }).click();
    await expect.poll(titles).toEqual(["e.jpg", "g.jpg", "b.jpg", "d.jpg", "f.jpg"]);
    expect(asked).toEqual(["Delete 2 images for everyone? This cannot be undone."]);
    expect(await Promise.all(images.map(statusOf))).toEqual([410, 200, 410, 200, 200, 200, 200]);
  });
});

test("Delete asks first, takes the image off the list, goes through when the page is left at once, and tells why the service refuses", async () => {
  const [own, foreign, last] = [await add("own.jpg"), await add("foreign.jpg"), await add("last.jpg")];
  await onPage(async (page) => {
    await openWith(page, [savedFrom(own), { ...savedFrom(foreign), pin: "0".repeat(16) }, savedFrom(last)]);
    const asked = answerDialogs(page, [false, true, true, true]);
    await press(page, "own.jpg", "Delete…");
    expect(await statusOf(own)).toBe(200);
    await press(page, "own.jpg", "Delete…");
    await expect.poll(() => entry(page, "own.jpg").count()).toBe(0);
    expect(await statusOf(own)).toBe(410);
    expect(asked[0]).toBe("Delete own.jpg for everyone? This cannot be undone.");
    await press(page, "foreign.jpg", "Delete…");
    const refusal = "foreign.jpg was not deleted. The server says: “The PIN is wrong.”";
    await entry(page, "foreign.jpg").getByText(refusal).waitFor();
    expect((await listOf(page)).map(({ id }) => id)).toEqual([foreign.id, last.id]);
    await press(page, "last.jpg", "Delete…");
    await page.goto("about:blank");
    await expect.poll(() => statusOf(last)).toBe(410);
  }, REFUSALS);
});

test("a row follows the edit page of another window", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const edit = (await menuItem(entryOf(page, "boat.jpg"), "Edit name")).getAttribute("href");
    const other = await page.context().newPage();
    await other.goto(String(await edit));
    await other.getByLabel("Name").fill("harbour.jpg");
    await other.getByLabel("Time from now").selectOption("30 days");
    await other.getByRole("button", { name: "Save changes" }).click();
    await entryOf(page, "harbour.jpg")
      .getByText(/^(29|30) days left$/)
      .waitFor();
  });
});

test("two windows add to the list and change it without losing an entry", async () => {
  await onPage(async (page) => {
    const other = await page.context().newPage();
    await other.goto(`${shared.site.base}/`);
    const names = (prefix: string) => ["1", "2", "3", "4"].map((number) => boat(`${prefix}${number}.jpg`));
    await Promise.all([choose(page, ...names("a")), choose(other, ...names("b"))]);
    await expect.poll(async () => (await listOf(page)).length).toBe(8);
    // As if the other window had not seen the last addition.
    await choose(page, boat("late.jpg"));
    await expect.poll(async () => (await listOf(page))[0]?.name).toBe("late.jpg");
    await other.evaluate((key) => {
      const list: unknown[] = JSON.parse(localStorage.getItem(key) ?? "[]");
      localStorage.setItem(key, JSON.stringify(list.slice(1)));
    }, `outrigger uploads ${shared.site.base}`);
    await expect.poll(async () => (await listOf(page)).map(({ name }) => name)).toContain("late.jpg");
  });
});

test("names keep their direction, and long ones take one line", async () => {
  const long = await add(`${"Wort ".repeat(43)}.jpg`);
  const arabic = await add("صورة ١.jpg");
  const use = async (page: Page) => {
    await openWith(page, [savedFrom(long), savedFrom(arabic)]);
    const titles = page.locator(".saved .title");
    const { height, lineHeight } = await titles.first().evaluate((title) => ({
      height: title.getBoundingClientRect().height,
      lineHeight: Number.parseFloat(getComputedStyle(title).lineHeight),
    }));
    expect(height).toBeLessThanOrEqual(lineHeight + 1);
    expect(await titles.nth(1).evaluate((title) => getComputedStyle(title).direction)).toBe("rtl");
  };
  await onPage(use, { viewport: { width: 320, height: 900 } });
});

test("only a browser that holds the PIN has the uploader's bar in the viewer, with the edit page and the secret edit link", async () => {
  const [own, other] = [await add("own.jpg"), await add("other.jpg")];
  await onPage(async (page) => {
    await openWith(page, [savedFrom(own)]);
    await page.goto(`${own.url}/view`);
    await page.getByLabel("More", { exact: true }).click();
    await page.getByRole("group", { name: "Your upload" }).waitFor();
    expect(await overflowsOf(page)).toEqual([]);
    await page.getByText("Anyone with this link can edit or delete the image.").waitFor();
    await page.getByRole("button", { name: "Copy edit link" }).click();
    await page.getByRole("status").filter({ hasText: "Edit link copied" }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(own.editUrl);
    await page.getByRole("link", { name: "Edit or delete" }).click();
    await page.getByRole("button", { name: "Save changes" }).waitFor();
    await page.goto(other.url, { waitUntil: "networkidle" });
    expect(await page.locator(".own").count()).toBe(0);
  });
});
