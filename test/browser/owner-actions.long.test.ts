import { describe, expect, test } from "vitest";
import { openWithList, readList, savedFrom } from "./saved-list.ts";
import { choose, eventually, shareUploadPage } from "./upload-page.ts";

describe("what uploaders can do on the upload page", { timeout: 60_000 }, () => {
  const shared = shareUploadPage();
  const { boat, add, onPage } = shared;
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
  test("names keep their direction, and long ones take two lines at most", async () => {
    const long = await add(`${"Wort ".repeat(43)}.jpg`);
    const arabic = await add("صورة ١.jpg");
    await onPage(
      async (page) => {
        await openWithList(page, shared.site, [savedFrom(long), savedFrom(arabic)]);
        for (const toggle of await page.getByRole("button", { name: /^Details of/ }).all())
          await toggle.click();
        const titles = page.locator(".saved .title");
        const { height, lineHeight } = await titles.first().evaluate((title) => ({
          height: title.getBoundingClientRect().height,
          lineHeight: Number.parseFloat(getComputedStyle(title).lineHeight),
        }));
        expect(height).toBeLessThanOrEqual(2 * lineHeight + 1);
        expect(await titles.nth(1).evaluate((title) => getComputedStyle(title).direction)).toBe("rtl");
        const field = page.getByLabel("Name of صورة");
        expect(await field.evaluate((input) => getComputedStyle(input).direction)).toBe("rtl");
        expect(await page.getByLabel(/^Link to صورة/).getAttribute("dir")).toBe("ltr");
      },
      { viewport: { width: 320, height: 900 } },
    );
  });
});
