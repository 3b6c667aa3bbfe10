import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { readLinksFile } from "../../packages/web/browser/saved/links-file.ts";
import { withPage } from "../support/chromium.ts";
import { deleteElsewhere, openCard, openWithList, readList, savedFrom, statusOf } from "./saved-list.ts";
import { choose, copied, entryOf, eventually, linkOf, recordAt, shareUploadPage } from "./upload-page.ts";

const isFocused = (element: Element) => element === document.activeElement;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe("what uploaders can do on the upload page", { timeout: 60_000 }, () => {
  const shared = shareUploadPage({ maxLifetimeMs: 40 * DAY_MS });
  const { boat, add, onPage } = shared;

  test("a card extends the expiry by days, and says when a step ends at the longest lifetime", async () => {
    await onPage(async (page) => {
      await choose(page, boat());
      const entry = entryOf(page, "boat.jpg");
      await entry.getByText(/expires in 2[34] hours/).waitFor();
      const link = await linkOf(entry);
      const daysLeft = async () =>
        (Date.parse(String((await recordAt(shared.site, link)).expiresAt)) - Date.now()) / DAY_MS;
      await entry.getByRole("button", { name: "+1 day for boat.jpg" }).click();
      await entry.getByText(/expires in (47 hours|2 days)/).waitFor();
      expect(await daysLeft()).toBeCloseTo(2, 1);
      await entry.getByRole("button", { name: "+30 days for boat.jpg" }).click();
      await entry.getByText(/expires in 3[12] days/).waitFor();
      expect(await daysLeft()).toBeCloseTo(32, 1);
      expect(await entry.getByRole("button", { name: "+30 days" }).count()).toBe(0);
      await entry.getByRole("button", { name: "Extend to 40 days for boat.jpg" }).click();
      await entry.getByText(/expires in (39|40) days/).waitFor();
      expect(await daysLeft()).toBeCloseTo(40, 1);
      await eventually(() => entry.getByRole("button", { name: /\+|Extend/ }).count()).toBe(0);
      await eventually(() => entry.getByRole("button", { name: "Rename" }).evaluate(isFocused)).toBe(true);
      const [saved] = await readList(page, shared.site);
      expect(saved?.expiresAt).toBe((await recordAt(shared.site, link)).expiresAt);
      await page.reload();
      await page
        .locator(".saved")
        .getByText(/expires in (39|40) days/)
        .first()
        .waitFor();
    });
  });

  test("the service's reason is shown when it refuses to extend an image", async () => {
    const image = await add("boat.jpg");
    await onPage(
      async (page) => {
        await openCard(page, shared.site, [{ ...savedFrom(image), pin: "0".repeat(16) }]);
        await page.getByRole("button", { name: "+1 day for boat.jpg" }).click();
        await page
          .locator(".trouble")
          .getByText("Not extended. The server says: “The PIN is wrong.”")
          .waitFor();
      },
      { mayComplain: /status of 403/ },
    );
  });

  test("Rename moves to the name, and Edit opens the edit page", async () => {
    const image = await add("boat.jpg");
    await onPage(
      async (page) => {
        await openCard(page, shared.site, [savedFrom(image)]);
        await page.getByRole("button", { name: "Rename boat.jpg" }).click();
        await page.keyboard.type("Regatta");
        await page.keyboard.press("Enter");
        await page.getByRole("link", { name: "Edit Regatta" }).click();
        await page.getByRole("button", { name: "Save changes" }).waitFor();
        expect(await page.getByLabel("Name").inputValue()).toBe("Regatta");
        await deleteElsewhere(shared.site, image);
        await page.goBack();
        // The image is checked at once, although the page checked it less than a minute ago.
        await page.locator(".saved").getByText("deleted", { exact: true }).waitFor();
      },
      { mayComplain: /status of 410/ },
    );
  });

  test("the links of a browser are saved in a readable file and restored in another browser", async () => {
    const [kept, gone, known] = [await add("kept.jpg"), await add("gone.jpg"), await add("known.jpg")];
    let text = "";
    await onPage(async (page) => {
      await openWithList(page, shared.site, [kept, gone, known].map(savedFrom));
      const download = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save my links…" }).click();
      const file = await download;
      expect(file.suggestedFilename()).toMatch(/^image-links-\d{4}-\d\d-\d\d\.txt$/);
      text = await readFile(await file.path(), "utf8");
    });
    expect(text).toContain(`kept.jpg\nexpires `);
    expect(text).toContain(`\n${kept.editUrl}\n`);
    expect(text).toContain("Anyone with these links can edit or delete the images.");
    expect(readLinksFile(text).map(({ id }) => id)).toEqual([kept.id, gone.id, known.id]);
    await deleteElsewhere(shared.site, gone);
    const wrong = `${shared.site.base}/${(await add("wrong.jpg")).id}/edit?pin=${"0".repeat(16)}`;
    await onPage(
      async (page) => {
        const restore = (content: string) =>
          page.getByLabel("Restore links from a file").setInputFiles({
            name: "links.txt",
            mimeType: "text/plain",
            buffer: Buffer.from(content),
          });
        await restore("nothing");
        await page.getByText("This file has no edit links.").first().waitFor();
        await openWithList(page, shared.site, [savedFrom(known)]);
        await restore(`${text}\n${wrong}\n`);
        await page
          .locator(".links-file")
          .getByText("1 link restored, 1 already in the list, 1 expired or deleted, 1 with a wrong PIN.")
          .waitFor();
        expect(await readList(page, shared.site)).toMatchObject([savedFrom(kept), savedFrom(known)]);
        await page.locator(".saved .entry").filter({ hasText: "kept.jpg" }).waitFor();
      },
      { mayComplain: /status of (403|410|412)/ },
    );
    expect(await statusOf(shared.site, kept)).toBe(200);
  });

  test("a file that was uploaded before is not sent again unless the user wants that", async () => {
    await onPage(async (page) => {
      await choose(page, boat());
      const link = await linkOf(entryOf(page, "boat.jpg"));
      await eventually(async () => (await readList(page, shared.site))[0]?.file?.size).toBe(
        shared.photo.length,
      );
      await page.reload();
      await choose(page, boat());
      const again = page.locator(".uploads .entry");
      await again.getByText("You already uploaded this:").waitFor();
      expect(await copied(page, again.getByRole("button", { name: "Copy link to boat.jpg" }))).toBe(link);
      expect(await readList(page, shared.site)).toHaveLength(1);
      await again.getByRole("button", { name: "Upload again" }).click();
      expect(await linkOf(again)).not.toBe(link);
      await eventually(async () => (await readList(page, shared.site)).length).toBe(2);
    });
  });

  test("a file whose earlier image was deleted is uploaded without a question", async () => {
    await onPage(
      async (page) => {
        await choose(page, boat());
        const first = await linkOf(entryOf(page, "boat.jpg"));
        await eventually(async () => (await readList(page, shared.site))[0]?.file?.size).toBe(
          shared.photo.length,
        );
        const [saved] = await readList(page, shared.site);
        if (saved) await deleteElsewhere(shared.site, { ...saved, editUrl: "", status: "" });
        await choose(page, boat());
        const second = page.locator(".uploads .entry").first();
        expect(await linkOf(second)).not.toBe(first);
      },
      { mayComplain: /status of 410/ },
    );
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

  test("the chosen lifetime is remembered", async () => {
    await onPage(async (page) => {
      const lifetime = page.getByLabel("Delete after");
      await lifetime.selectOption("7 days");
      await page.reload();
      await eventually(() => lifetime.locator("option:checked").textContent()).toBe("7 days");
      await lifetime.selectOption("1 day");
      await page.reload();
      await eventually(() => lifetime.locator("option:checked").textContent()).toBe("1 day");
      await page.evaluate(
        (base) => localStorage.setItem(`outrigger lifetime ${base}`, "12345"),
        shared.site.base,
      );
      await page.reload();
      await eventually(() => lifetime.locator("option:checked").textContent()).toBe("1 day");
    });
  });

  test("names keep their direction, and long ones take two lines at most", async () => {
    const long = await add(`${"Wort ".repeat(43)}.jpg`);
    const arabic = await add("صورة ١.jpg");
    await onPage(
      async (page) => {
        await openWithList(page, shared.site, [savedFrom(long), savedFrom(arabic)]);
        const titles = page.locator(".saved summary .title");
        const { height, lineHeight } = await titles.first().evaluate((title) => ({
          height: title.getBoundingClientRect().height,
          lineHeight: Number.parseFloat(getComputedStyle(title).lineHeight),
        }));
        expect(height).toBeLessThanOrEqual(2 * lineHeight + 1);
        expect(await titles.nth(1).evaluate((title) => getComputedStyle(title).direction)).toBe("rtl");
        await page.locator(".saved summary").nth(1).click();
        const field = page.getByLabel("Name of صورة");
        expect(await field.evaluate((input) => getComputedStyle(input).direction)).toBe("rtl");
        expect(await page.getByLabel(/^Link to صورة/).getAttribute("dir")).toBe("ltr");
      },
      { viewport: { width: 320, height: 900 } },
    );
  });

  test("the label of an empty thumbnail has a contrast of at least 4.5 in light and in dark", async () => {
    const image = await add("plan.jpg");
    for (const colorScheme of ["light", "dark"] as const) {
      await withPage(shared.browser, { colorScheme }, async (page) => {
        await page.route("**/*.webp*", (route) => route.abort());
        await page.goto(`${shared.site.base}/`);
        await openWithList(page, shared.site, [savedFrom(image)]);
        const label = page.locator(".thumbnail span");
        await label.waitFor();
        const contrast = await label.evaluate((span) => {
          const luminance = (color: string) => {
            const parts = (color.match(/[\d.]+/g) ?? []).slice(0, 3).map((part) => Number(part) / 255);
            const [r = 0, g = 0, b = 0] = parts.map((part) =>
              part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4,
            );
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const box = span.closest(".thumbnail");
          const back = box === null ? "" : getComputedStyle(box).backgroundColor;
          const [low = 0, high = 0] = [getComputedStyle(span).color, back]
            .map(luminance)
            .sort((a, b) => a - b);
          return (high + 0.05) / (low + 0.05);
        });
        expect(contrast).toBeGreaterThanOrEqual(4.5);
      });
    }
  });
});
