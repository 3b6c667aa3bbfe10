import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { overflowsOf } from "../support/chromium.ts";
import { openWithList, readList, savedFrom } from "./saved-list.ts";
import { choose, eventually, shareUploadPage } from "./upload-page.ts";

describe("what uploaders can do", () => {
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
        expect((await page.locator(".entry .title").allTextContents()).sort()).toEqual([
          "one.jpg",
          "two.jpg",
        ]);
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  test("only a browser that holds the PIN has the bar of the uploader in the viewer", async () => {
    const [own, other] = [await add("own.jpg"), await add("other.jpg")];
    await onPage(async (page) => {
      await openWithList(page, shared.site, [savedFrom(own)]);
      await page.goto(`${own.url}/view`);
      await page.getByLabel("More", { exact: true }).click();
      await page.getByRole("group", { name: "Your upload" }).waitFor();
      expect(await overflowsOf(page)).toEqual([]);
      await page.goto(other.url, { waitUntil: "networkidle" });
      expect(await page.locator(".own").count()).toBe(0);
    });
  });

  test("the bar of the uploader opens the edit page, and names the copied edit link as secret", async () => {
    const own = await add("own.jpg");
    await onPage(async (page) => {
      await openWithList(page, shared.site, [savedFrom(own)]);
      await page.goto(own.url);
      await page.getByLabel("More", { exact: true }).click();
      await page.getByText("Anyone with this link can edit or delete the image.").waitFor();
      await page.getByRole("button", { name: "Copy edit link" }).click();
      await page.getByRole("status").filter({ hasText: "Edit link copied" }).waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(own.editUrl);
      await page.getByRole("link", { name: "Edit or delete" }).click();
      await page.getByRole("button", { name: "Save changes" }).waitFor();
    });
  });
});
