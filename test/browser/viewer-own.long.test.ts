import { expect, test } from "vitest";
import { overflowsOf } from "../support/chromium.ts";
import { openWithList, savedFrom } from "./saved-list.ts";
import { shareUploadPage } from "./upload-page.ts";

const shared = shareUploadPage();

test("only a browser that holds the PIN has the bar of the uploader in the viewer", async () => {
  const [own, other] = [await shared.add("own.jpg"), await shared.add("other.jpg")];
  await shared.onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(own)]);
    await page.goto(`${own.url}/view`);
    await page.getByRole("group", { name: "Your upload" }).getByText("You uploaded this").waitFor();
    expect(await overflowsOf(page)).toEqual([]);
    await page.goto(other.url, { waitUntil: "networkidle" });
    expect(await page.locator(".own").count()).toBe(0);
  });
});

test("the bar of the uploader opens the edit page, and names the copied edit link as secret", async () => {
  const own = await shared.add("own.jpg");
  await shared.onPage(async (page) => {
    await openWithList(page, shared.site, [savedFrom(own)]);
    await page.goto(own.url);
    await page.getByRole("button", { name: "Copy edit link" }).click();
    await page
      .getByRole("status")
      .filter({ hasText: "Edit link copied. Anyone with this link can edit or delete the image." })
      .waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(own.editUrl);
    await page.getByRole("link", { name: "Edit or delete" }).click();
    await page.getByRole("button", { name: "Save changes" }).waitFor();
  });
});
