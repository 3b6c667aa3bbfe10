import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { overflowsOf } from "../support/chromium.ts";
import {
  answerDialogs,
  deleteElsewhere,
  openWithList,
  patch,
  readList,
  savedFrom,
  statusOf,
} from "./saved-list.ts";
import { choose, copied, entryOf, eventually, menuItem, shareUploadPage } from "./upload-page.ts";

const DAY_MS = 86_400_000;
const PAST = new Date(Date.now() - 60_000).toISOString();
/** Chromium reports the refused reads of images that are gone or withheld. */
const REFUSALS = { mayComplain: /status of (403|404|410|451|429)/ };

const shared = shareUploadPage();
const { boat, add, onPage } = shared;

const entry = (page: Page, name: string) => page.locator(".saved .entry").filter({ hasText: name });

test("an entry whose saved expiry has passed keeps its PIN and shows the new expiry and description of the service", async () => {
  const image = await add("late.jpg");
  await patch(shared.site, image, {
    expiresAt: Date.now() + 29.2 * DAY_MS,
    name: "later.jpg",
    description: "A <boat>",
  });
  await onPage(async (page) => {
    await openWithList(page, shared.site, [{ ...savedFrom(image), expiresAt: PAST }]);
    await entry(page, "later.jpg").getByText("29 days left").waitFor();
    const [saved] = await readList(page, shared.site);
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
  await deleteElsewhere(shared.site, deleted);
  await shared.site.images.withhold(withheld.id, { reason: "By order." });
  await onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(deleted), savedFrom(withheld)]);
    await entry(page, "deleted.jpg").getByText("deleted", { exact: true }).waitFor();
    await entry(page, "withheld.jpg").getByText("unavailable for legal reasons").waitFor();
    expect(await page.locator(".saved .entry .copier").count()).toBe(0);
    await page.reload();
    await eventually(() => page.locator(".saved .entry").count()).toBe(1);
    expect(await readList(page, shared.site)).toMatchObject([{ id: withheld.id, pin: withheld.pin }]);

    await shared.site.images.release(withheld.id);
    const [saved] = await readList(page, shared.site);
    if (saved) await openWithList(page, shared.site, [{ ...saved, checkedAt: 0 }]);
    await entry(page, "withheld.jpg").getByText("hours left").waitFor();
  }, REFUSALS);
});

test("an entry is removed only after the page has said that its PIN is lost with it", async () => {
  const image = await add("boat.jpg");
  await onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(image)]);
    const remove = async () => (await menuItem(entry(page, "boat.jpg"), "Remove from this list")).click();
    const asked = answerDialogs(page, [false, true]);
    await remove();
    expect(await readList(page, shared.site)).toMatchObject([{ pin: image.pin }]);
    await remove();
    await eventually(() => readList(page, shared.site)).toEqual([]);
    const text = "Remove boat.jpg from this list? You will no longer be able to edit or delete the image.";
    expect(asked).toEqual([text, text]);
    expect(await page.locator(".entry").count()).toBe(0);
    expect(await statusOf(shared.site, image)).toBe(200);
  });
});

test("Remove from this list says what is lost, and removes all selected entries", async () => {
  const images = [await add("one.jpg"), await add("two.jpg")];
  await onPage(async (page) => {
    await openWithList(page, shared.site, images.map(savedFrom));
    const asked = answerDialogs(page, [false, true]);
    await page.getByRole("button", { name: "Select", exact: true }).click();
    await page.getByRole("button", { name: "Select all" }).click();
    const clear = page.getByRole("button", { name: "Remove 2 from this list" });
    await clear.click();
    expect(await page.locator(".saved .entry").count()).toBe(2);
    await clear.click();
    await eventually(() => readList(page, shared.site)).toEqual([]);
    expect(asked[0]).toBe(
      "Remove 2 images from this list? You will no longer be able to edit or delete the images.",
    );
  });
});

test("the list is in the order of choice, is searched by name, and its selected images are copied and deleted", async () => {
  const images = await Promise.all(["a", "b", "c", "d", "e", "f", "g"].map((name) => add(`${name}.jpg`)));
  const saved = images.map((image, index) => ({ ...savedFrom(image), chosenAt: (index * 3) % 7 }));
  await onPage(async (page) => {
    await openWithList(page, shared.site, saved);
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
    await eventually(titles).toEqual(["e.jpg", "g.jpg", "b.jpg", "d.jpg", "f.jpg"]);
    expect(asked).toEqual(["Delete 2 images for everyone? This cannot be undone."]);
    const statuses = images.map((image) => statusOf(shared.site, image));
    expect(await Promise.all(statuses)).toEqual([410, 200, 410, 200, 200, 200, 200]);
  });
});

test("a row follows the edit page of another window", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const edit = (await menuItem(entryOf(page, "boat.jpg"), "Edit name")).getAttribute("href");
    const other = await page.context().newPage();
    await other.goto(String(await edit));
    await other.getByLabel("Name").fill("harbour.jpg");
    await other.getByLabel("Time from now").selectOption({ label: "30 days" });
    await other.getByRole("button", { name: "Save changes" }).click();
    await entryOf(page, "harbour.jpg")
      .getByText(/^(29|30) days left$/)
      .waitFor();
  });
});

test("Delete asks first, and takes the deleted image off the list", async () => {
  await onPage(async (page) => {
    await choose(page, boat());
    const remove = async () => (await menuItem(entryOf(page, "boat.jpg"), "Delete…")).click();
    await entryOf(page, "boat.jpg").getByRole("button", { name: "Copy link" }).waitFor();
    const [image] = await readList(page, shared.site);
    if (image === undefined) throw new Error("The upload is not in the list");
    const asked = answerDialogs(page, [false, true]);
    await remove();
    expect(await statusOf(shared.site, image)).toBe(200);
    await remove();
    await eventually(() => page.locator(".entry").count()).toBe(0);
    expect(await statusOf(shared.site, image)).toBe(410);
    expect(await readList(page, shared.site)).toEqual([]);
    expect(asked[0]).toBe("Delete boat.jpg for everyone? This cannot be undone.");
  });
});

test("a deletion goes through when the page is left at once", async () => {
  const image = await add("boat.jpg");
  await onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(image)]);
    answerDialogs(page, [true]);
    await (await menuItem(entry(page, "boat.jpg"), "Delete…")).click();
    await page.goto("about:blank");
    await eventually(() => statusOf(shared.site, image)).toBe(410);
  });
});

test("a deletion that the service refuses leaves the image in the list, with the reason", async () => {
  const image = await add("boat.jpg");
  await onPage(async (page) => {
    await openWithList(page, shared.site, [{ ...savedFrom(image), pin: "0".repeat(16) }]);
    answerDialogs(page, [true]);
    await (await menuItem(entry(page, "boat.jpg"), "Delete…")).click();
    await entry(page, "boat.jpg")
      .getByText("boat.jpg was not deleted. The server says: “The PIN is wrong.”")
      .waitFor();
    expect(await readList(page, shared.site)).toHaveLength(1);
  }, REFUSALS);
});

test("two windows add to the list and change it without losing an entry", async () => {
  await onPage(async (page) => {
    const other = await page.context().newPage();
    await other.goto(`${shared.site.base}/`);
    const names = (prefix: string) => ["1", "2", "3", "4"].map((number) => boat(`${prefix}${number}.jpg`));
    await Promise.all([choose(page, ...names("a")), choose(other, ...names("b"))]);
    await eventually(async () => (await readList(page, shared.site)).length).toBe(8);
    // As if the other window had not seen the last addition.
    await choose(page, boat("late.jpg"));
    await eventually(async () => (await readList(page, shared.site))[0]?.name).toBe("late.jpg");
    await other.evaluate((key) => {
      const list: unknown[] = JSON.parse(localStorage.getItem(key) ?? "[]");
      localStorage.setItem(key, JSON.stringify(list.slice(1)));
    }, `outrigger uploads ${shared.site.base}`);
    await eventually(async () => (await readList(page, shared.site)).map(({ name }) => name)).toContain(
      "late.jpg",
    );
  });
});

test("names keep their direction, and long ones take one line", async () => {
  const long = await add(`${"Wort ".repeat(43)}.jpg`);
  const arabic = await add("صورة ١.jpg");
  await onPage(
    async (page) => {
      await openWithList(page, shared.site, [savedFrom(long), savedFrom(arabic)]);
      const titles = page.locator(".saved .title");
      const { height, lineHeight } = await titles.first().evaluate((title) => ({
        height: title.getBoundingClientRect().height,
        lineHeight: Number.parseFloat(getComputedStyle(title).lineHeight),
      }));
      expect(height).toBeLessThanOrEqual(lineHeight + 1);
      expect(await titles.nth(1).evaluate((title) => getComputedStyle(title).direction)).toBe("rtl");
    },
    { viewport: { width: 320, height: 900 } },
  );
});

test("the files in a dropped folder and its folders are uploaded, without those of the system", async () => {
  const folder = await mkdtemp(join(tmpdir(), "outrigger-drop-"));
  try {
    await mkdir(join(folder, "trip", "deep"), { recursive: true });
    await writeFile(join(folder, "trip", "one.jpg"), shared.photo);
    await writeFile(join(folder, "trip", "deep", "two.jpg"), shared.photo);
    for (const dust of [".DS_Store", "Thumbs.db", "deep/desktop.ini"])
      await writeFile(join(folder, "trip", dust), "dust");
    await onPage(async (page) => {
      const session = await page.context().newCDPSession(page);
      const data = { items: [], files: [join(folder, "trip")], dragOperationsMask: 1 };
      for (const type of ["dragEnter", "dragOver"] as const)
        await session.send("Input.dispatchDragEvent", { type, x: 100, y: 400, data });
      await eventually(() => page.locator(".dragging").count()).toBe(1);
      await session.send("Input.dispatchDragEvent", { type: "drop", x: 100, y: 400, data });
      await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
      expect(await page.locator(".dragging").count()).toBe(0);
      expect((await page.locator(".entry .title").allTextContents()).sort()).toEqual(["one.jpg", "two.jpg"]);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test("only a browser that holds the PIN has the uploader's bar in the viewer, with the edit page and the secret edit link", async () => {
  const [own, other] = [await add("own.jpg"), await add("other.jpg")];
  await onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(own)]);
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
