import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, flatPsd, jpegPhoto } from "../support/pictures.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";

let site: Site;
let photo: Created;
let report: Created;

beforeAll(async () => {
  site = await startSite();
  photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg", { name: "Bucht & Süd.jpg" });
  report = await upload(site, numberedPdf(5), "application/pdf", { fileName: "Report.pdf" });
});
afterAll(() => site.close());

const picture = (page: Page) => page.locator(".stage img");
const decoded = (page: Page) =>
  picture(page).evaluate(async (img: HTMLImageElement) => {
    await img.decode();
    return { source: img.currentSrc, size: [img.naturalWidth, img.naturalHeight] };
  });

test("a large picture is sharp on screens of densities 1 and 2, and links to the full size", async () => {
  for (const [deviceScaleFactor, side] of [
    [1, 1024],
    [2, 2048],
  ] as const) {
    await withPage({ viewport: { width: 1000, height: 900 }, deviceScaleFactor }, async (page) => {
      await page.goto(photo.url);
      const { source } = await decoded(page);
      expect(source).toBe(`${addressOf(site, photo.id, "webp")}?resize=${side}x${side}`);
      const full = page.getByRole("link", { name: "View full size" });
      expect(await full.getAttribute("href")).toBe(addressOf(site, photo.id, "jpg"));
    });
  }
});

test("a PSD is shown, and a button plays and stops an animation, whose first frame is shown under reduced motion", async () => {
  const psd = await upload(site, flatPsd(), "image/x-photoshop", { fileName: "plan.psd" });
  const gif = await upload(site, await animatedGif(3), "image/gif");
  for (const [reducedMotion, label, first, second] of [
    ["reduce", "Play animation", "png", "gif"],
    ["no-preference", "Stop animation", "gif", "png"],
  ] as const) {
    await withPage({ reducedMotion }, async (page) => {
      await page.goto(psd.url);
      expect((await decoded(page)).size).toEqual([20, 10]);
      await page.goto(gif.url);
      expect((await decoded(page)).size).toEqual([80, 60]);
      const shown = async () => (await decoded(page)).source.slice(-3);
      await expect.poll(shown).toBe(first);
      await page.getByRole("button", { name: label }).click();
      await expect.poll(shown).toBe(second);
      await page.getByRole("button", { name: /animation$/ }).click();
      await expect.poll(shown).toBe(first);
      expect(await page.getByRole("button", { name: label }).count()).toBe(1);
    });
  }
});

test("a tall picture keeps its width, and the arrow keys scroll it", async () => {
  const tall = await sharp({ create: { width: 60, height: 3000, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const { url } = await upload(site, tall, "image/png");
  await withPage({}, async (page) => {
    await page.goto(url);
    const stage = page.locator(".stage");
    expect(await picture(page).evaluate((img) => img.clientWidth)).toBe(60);
    await stage.focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => stage.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  });
});

test("without JavaScript, links and a number field turn the pages, dates are in UTC, and the form saves a file", async () => {
  await withPage({ javaScriptEnabled: false, timezoneId: "Asia/Tokyo" }, async (page) => {
    const complaints = complaintsOf(page);
    await page.goto(report.url);
    expect(await page.getByRole("link", { name: "Previous" }).count()).toBe(0);
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL(/\?page=2$/);
    expect(await picture(page).getAttribute("src")).toMatch(/\.webp\?page=2$/);
    await page.getByRole("spinbutton", { name: "Page" }).fill("5");
    await page.getByRole("button", { name: "Go" }).click();
    await page.waitForURL(/\?page=5$/);
    expect(await page.getByRole("link", { name: "Next" }).count()).toBe(0);
    await page.getByRole("link", { name: "Previous" }).click();
    await page.waitForURL(/\?page=4$/);

    await page.goto(photo.url);
    expect(await page.locator("time").last().textContent()).toMatch(/\d:\d\d [AP]M UTC$/);
    expect(await page.locator('[aria-label^="Copy "]').count()).toBe(0);
    await page.getByLabel("Download", { exact: true }).click();
    await page.getByLabel("Format").selectOption("JPEG, low quality");
    await page.getByLabel("Size", { exact: true }).selectOption("Medium, 800 px");
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await saving;
    expect(file.suggestedFilename()).toBe("Bucht & Süd.jpg");
    const { bytes } = await bytesOf(`${addressOf(site, photo.id, "jpg")}?convert=low&resize=800x800`);
    expect((await readFile(await file.path())).equals(bytes)).toBe(true);
    expect(complaints).toEqual([]);
  });
});

test("with JavaScript, pages turn by arrow keys too, and Back returns to the previous one", async () => {
  await withPage({}, async (page) => {
    const complaints = complaintsOf(page);
    await page.goto(report.url);
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL(/\?page=2$/);
    await page.keyboard.press("ArrowRight");
    await page.waitForURL(/\?page=3$/);
    await page.locator('.stage img[src$="page=3"]').waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.waitForURL(/\?page=2$/);
    await page.goBack();
    await page.locator('.stage img[src$="page=3"]').waitFor();
    // In the number field, the arrow keys move the cursor.
    await page.getByRole("spinbutton", { name: "Page" }).focus();
    await page.keyboard.press("ArrowLeft");
    expect(page.url()).toMatch(/\?page=3$/);
    expect(complaints).toEqual([]);
  });
});

test("with JavaScript, dates use the reader's time zone, copy buttons copy what they name, and a pane below the window is scrolled to", async () => {
  const options = { timezoneId: "Asia/Tokyo", permissions: ["clipboard-read", "clipboard-write"] };
  await withPage({ ...options, viewport: { width: 1280, height: 800 } }, async (page) => {
    const complaints = complaintsOf(page);
    await page.goto(photo.url);
    const time = page.locator("time").last();
    expect(await time.textContent()).toMatch(/GMT\+9$/);
    expect(await time.getAttribute("title")).toMatch(/^\w{3} \d+, \d{4}, \d+:\d\d [AP]M UTC$/);
    expect(await page.content()).not.toContain(photo.pin);
    for (const name of ["Download", "More"]) {
      await page.getByLabel(name, { exact: true }).click();
      const bottom = () =>
        page.locator(".drop[open] > .pane").evaluate((pane) => pane.getBoundingClientRect().bottom);
      await expect.poll(bottom).toBeLessThanOrEqual(800);
    }
    expect(await page.locator('[aria-label^="Copy "]').count()).toBe(13);
    const original = addressOf(site, photo.id, "jpg");
    for (const [label, text] of [
      ["Page link", `${photo.url}/view`],
      ["Direct link", original],
      ["Markdown", `[![Bucht & Süd.jpg](${original})](${photo.url}/view)`],
    ]) {
      const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
      await button.click();
      const said = page.getByRole("status").filter({ hasText: `${label} copied` });
      await said.waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
      expect(await button.textContent()).toBe("Copied");
    }
    expect(complaints).toEqual([]);
  });
});

test("without the clipboard API, as on plain HTTP, a text is copied, or selected where that fails", async () => {
  await withPage({}, async (page) => {
    await page.addInitScript(() => {
      Object.defineProperty(Navigator.prototype, "clipboard", { value: undefined });
    });
    await page.goto(photo.url);
    const copied = page.evaluate(
      () =>
        new Promise((resolve) => document.addEventListener("copy", () => resolve(String(getSelection())))),
    );
    await page.getByRole("button", { name: "Copy link" }).click();
    expect(await copied).toBe(`${photo.url}/view`);
    await page.getByRole("status").filter({ hasText: "Link copied" }).waitFor();
    await page.evaluate(() => {
      document.execCommand = () => false;
    });
    await page.getByRole("button", { name: "Copy link" }).click();
    await page.getByRole("status").filter({ hasText: "Link selected. Press Ctrl+C to copy." }).waitFor();
    expect(await page.evaluate(() => String(getSelection()))).toBe(`${photo.url}/view`);
  });
});

test("Share… hands name and link to the share sheet, and explains a refusal", async () => {
  for (const [refusal, text] of [
    [null, ""],
    ["AbortError", ""],
    ["NotAllowedError", "Couldn’t open the share sheet. Copy the link and send it yourself."],
  ] as const) {
    await withPage({}, async (page) => {
      // Chromium on Linux has no share sheet.
      await page.addInitScript((name) => {
        const value = async ({ title, url }: ShareData) => {
          document.documentElement.dataset.shared = `${title} ${url}`;
          if (name !== null) throw new DOMException("", name);
        };
        Object.defineProperty(navigator, "share", { value });
      }, refusal);
      await page.goto(photo.url);
      await page.getByRole("button", { name: "Share…" }).click();
      await page.locator(`html[data-shared="Bucht & Süd.jpg ${photo.url}/view"]`).waitFor();
      await expect.poll(() => page.locator(".headline > .hint").textContent()).toBe(text);
      expect(await overflowsOf(page)).toEqual([]);
    });
  }
});
