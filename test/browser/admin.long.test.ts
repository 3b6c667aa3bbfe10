import { createAdminPages } from "@outrigger/web";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { startHost } from "../support/hosts.ts";
import type { Host } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { startSite } from "../support/quick-site.ts";
import { addressOf, postImage, type Site } from "../support/service.ts";

let site: Site;
let admin: Host;

beforeAll(async () => {
  site = await startSite({
    inspect: (_file, { name }) => (name.startsWith("held") ? "hold" : "accept"),
    reports: true,
  });
  const pages = createAdminPages({ images: site.images, authorize: () => ({ by: "anna" }) });
  admin = await startHost("Express 5", pages, "/admin/images");
});
afterAll(async () => {
  await admin.close();
  await site.close();
});

async function stored(name: string, file?: Buffer): Promise<string> {
  const reply = await postImage(site, file ?? (await jpegPhoto(300, 200)), "image/jpeg", { name });
  return ((await reply.json()) as { id: string }).id;
}

const statusesOf = (...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await fetch(addressOf(site, id, "jpg"))).status));
const choose = (page: Page, name: string) => page.getByLabel(`Choose ${name}`).check();
const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).click();
const outcome = (page: Page) => page.locator(".banner").allInnerTexts();

test("a moderator accepts, refuses, withholds, finds, releases and deletes without JavaScript", async () => {
  const names = ["held cat", "held spam", "beach"] as const;
  const [cat, spam, beach] = [await stored(names[0]), await stored(names[1]), await stored(names[2])];
  await withPage({ javaScriptEnabled: false }, async (page) => {
    const complaints = complaintsOf(page);
    await page.goto(`${admin.base}/`);
    await page.getByRole("link", { name: "Held", exact: true }).click();
    await choose(page, names[0]);
    await press(page, "Accept");
    expect(await outcome(page)).toEqual(["1 image accepted."]);
    await choose(page, names[1]);
    await page.getByLabel("Reason").fill("Advertisement");
    await press(page, "Refuse");
    expect(await outcome(page)).toEqual([expect.stringContaining("1 image would end for good")]);
    await choose(page, names[1]);
    await page.getByLabel("Yes, delete or refuse").check();
    await press(page, "Refuse");
    expect(await outcome(page)).toEqual(["1 image refused."]);
    expect(await statusesOf(cat, spam)).toEqual([200, 404]);

    await page.getByText("Find images by their links").click();
    const links = `${site.base}/${beach}/view\n${addressOf(site, cat, "png")}`;
    await page.getByLabel("Links or IDs").fill(links);
    await press(page, "Find");
    expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Found images");
    await page.getByLabel("All 2 on this page").check();
    await page.getByLabel("Reason").fill("Claim of copyright");
    await page.getByLabel("Page about the decision").fill("https://example.com/legal/7");
    await press(page, "Withhold");
    expect(await outcome(page)).toEqual(["2 images withheld."]);
    expect(await statusesOf(cat, beach)).toEqual([451, 451]);

    await page.getByRole("link", { name: "Withheld", exact: true }).click();
    const picture = page.getByRole("img", { name: `Open ${names[2]}` });
    const width = () => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth);
    await expect.poll(width).toBeGreaterThan(0);
    await choose(page, names[2]);
    await press(page, "Release");
    expect(await outcome(page)).toEqual(["1 image released."]);
    await choose(page, names[0]);
    await page.getByLabel("Yes, delete").check();
    await press(page, "Delete");
    expect(await outcome(page)).toEqual(["1 image deleted."]);
    expect(await statusesOf(cat, beach)).toEqual([451, 200]);
    expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
  });
});

test("from report to takedown, with its copies and later uploads, and to a report that is kept", async () => {
  const file = await jpegPhoto(320, 240);
  const [id, copy, other] = [await stored("party", file), await stored("party", file), await stored("party")];
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(`${site.base}/${id}/report`);
    await page.getByLabel("Reason").selectOption("intimate_image");
    await page.getByLabel("Why should it be removed?").fill("<b>That is me</b>");
    await page.getByLabel("How can we reach you?").fill("reporter@example.com");
    await press(page, "Send report");
    await page.getByText("Your reference").waitFor();

    await page.goto(`${admin.base}/?show=reported`);
    await page.getByText("1 report: Intimate image").waitFor();
    await page.getByText("What they wrote").click();
    await page.getByText("<b>That is me</b>").waitFor();
    await page.getByText("Contact: reporter@example.com").waitFor();
    await choose(page, "party");
    await page.getByLabel("Reason").fill("Published without consent");
    await page.getByLabel("Withhold identical images too").check();
    await press(page, "Withhold");
    expect(await outcome(page)).toEqual(["1 image withheld."]);
    await page.getByText("No images here.").waitFor();
    expect(await statusesOf(id, copy)).toEqual([451, 451]);
    expect((await postImage(site, file, "image/jpeg")).status).toBe(451);

    await page.goto(`${site.base}/${other}/report`);
    await page.getByLabel("Reason").selectOption("other");
    await page.getByLabel("Why should it be removed?").fill("I do not like it.");
    await press(page, "Send report");
    await page.goto(`${admin.base}/?show=reported`);
    await choose(page, "party");
    await press(page, "Keep");
    await page.getByText("1 image kept.").waitFor();
    await page.getByText("No images here.").waitFor();
  });
  expect(await statusesOf(other)).toEqual([200]);
});

test("the list has no accessibility fault in both themes, fits every window, and blurs pictures at once", async () => {
  const reported = await stored(`<b>bold</b> ${"long ".repeat(30)}`);
  const report = JSON.stringify({ id: reported, reason: "other" });
  const headers = { "Content-Type": "application/json" };
  await fetch(`${site.base}/api/reports.json`, { method: "POST", headers, body: report });
  await withPage({}, async (page) => {
    const complaints = complaintsOf(page);
    for (const show of ["", "?show=held", "?show=withheld", "?show=reported", "?blur=1"]) {
      await page.goto(`${admin.base}/${show}`);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect([show, await axeFaults(page)]).toEqual([show, []]);
      }
      expect([show, await overflowsOf(page)]).toEqual([show, []]);
    }
    await page.goto(`${admin.base}/`);
    const picture = page.locator(".frame img").first();
    const blur = () => picture.evaluate((image) => getComputedStyle(image).filter);
    expect(await blur()).toBe("none");
    await page.getByLabel("Blur pictures").focus();
    await page.keyboard.press("Space");
    expect(await blur()).toContain("blur");
    // The first control of the form does nothing when Enter is pressed in a field.
    await page.getByLabel("Reason").fill("x");
    await page.keyboard.press("Enter");
    await page.getByText("Choose what to do").waitFor();
    expect(complaints.filter((text) => !text.includes("400"))).toEqual([]);
  });
});
