import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, flatPsd, jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

const LONG_NAME = `${"W".repeat(120)} ${"a long name ".repeat(11)}`.trim();

let site: Site;
let photo: Created;
let large: Created;
let report: Created;

beforeAll(async () => {
  site = await startSite();
  photo = await upload(site, await jpegPhoto(1200, 800), "image/jpeg", { fileName: "Bucht & Boot.jpg" });
  large = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg");
  report = await upload(site, numberedPdf(5), "application/pdf", { fileName: "Report.pdf" });
});
afterAll(() => site.close());

test.each([
  [1, 1024],
  [2, 2048],
])(
  "a large picture is sharp on a screen of density %i and links to the full size",
  async (deviceScaleFactor, side) => {
    const { id, url } = large;
    await withPage({ viewport: { width: 1000, height: 900 }, deviceScaleFactor }, async (page) => {
      await page.goto(url);
      expect(await chosenSource(page)).toBe(`${site.base}/api/images/${id}.webp?resize=${side}x${side}`);
      expect(await page.getByRole("link", { name: "View full size" }).getAttribute("href")).toBe(
        `${site.base}/api/images/${id}.jpg`,
      );
    });
  },
);

test("a PSD and an animation show no broken picture", async () => {
  const psd = await upload(site, flatPsd(), "image/x-photoshop", { fileName: "plan.psd" });
  const gif = await upload(site, await animatedGif(3), "image/gif");
  await withPage({}, async (page) => {
    await page.goto(psd.url);
    expect(await shownSize(page)).toEqual([20, 10]);
    await page.goto(gif.url);
    expect(await shownSize(page)).toEqual([80, 60]);
    expect(await page.locator(".stage img").getAttribute("src")).toMatch(/\.gif$/);
  });
});

test.each([
  ["reduce", "Play animation", "png", "gif"],
  ["no-preference", "Stop animation", "gif", "png"],
] as const)(
  "a button plays and stops an animation (reduced motion: %s)",
  async (reducedMotion, label, first, second) => {
    const { url } = await upload(site, await animatedGif(3), "image/gif");
    await withPage({ reducedMotion }, async (page) => {
      await page.goto(url);
      const shown = () =>
        page.locator(".stage img").evaluate((img: HTMLImageElement) => img.currentSrc.slice(-3));
      await expect.poll(shown).toBe(first);
      await page.getByRole("button", { name: label }).click();
      await expect.poll(shown).toBe(second);
      await page.getByRole("button", { name: /animation$/ }).click();
      await expect.poll(shown).toBe(first);
      expect(await page.getByRole("button", { name: label }).count()).toBe(1);
    });
  },
);

test("a tall picture keeps its width, and the arrow keys scroll it", async () => {
  const tall = await sharp({ create: { width: 60, height: 3000, channels: 3, background: "red" } })
    .png()
    .toBuffer();
  const { url } = await upload(site, tall, "image/png");
  await withPage({}, async (page) => {
    await page.goto(url);
    const stage = page.locator(".stage");
    expect(await stage.locator("img").evaluate((img) => img.clientWidth)).toBe(60);
    await stage.focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => stage.evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
  });
});

test("without JavaScript, links and a number field turn the pages", async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(report.url);
    expect(await page.getByRole("link", { name: "Previous" }).count()).toBe(0);
    await page.getByRole("link", { name: "Next" }).click();
    await page.waitForURL(/\?page=2$/);
    expect(await page.locator(".stage img").getAttribute("src")).toMatch(/\.webp\?page=2$/);
    expect(await page.locator("#code-0-Di").inputValue()).toMatch(/\.png\?page=2$/);
    await page.getByRole("spinbutton", { name: "Page" }).fill("5");
    await page.getByRole("button", { name: "Go" }).click();
    await page.waitForURL(/\?page=5$/);
    expect(await page.getByRole("link", { name: "Next" }).count()).toBe(0);
    await page.getByRole("link", { name: "Previous" }).click();
    await page.waitForURL(/\?page=4$/);
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
    expect(await page.locator(".copy").count()).toBeGreaterThan(0);
    // In the number field, the arrow keys move the cursor.
    await page.getByRole("spinbutton", { name: "Page" }).focus();
    await page.keyboard.press("ArrowLeft");
    expect(page.url()).toMatch(/\?page=3$/);
    expect(complaints).toEqual([]);
  });
});

test("dates use the reader's time zone with JavaScript, and UTC without", async () => {
  const inTokyo = { timezoneId: "Asia/Tokyo" };
  const expected = /^\w{3} \d+, \d{4}, \d+:\d\d [AP]M UTC$/;
  const utc = await withPage({ ...inTokyo, javaScriptEnabled: false }, async (page) => {
    await page.goto(photo.url);
    return page.locator("time").last().textContent();
  });
  expect(utc).toMatch(expected);
  await withPage(inTokyo, async (page) => {
    await page.goto(photo.url);
    const time = page.locator("time").last();
    expect(await time.textContent()).toMatch(/GMT\+9$/);
    expect(await time.getAttribute("title")).toBe(utc);
  });
});

test.each([true, false])(
  "the viewer shows the picture, its name and its uploader (JavaScript: %s)",
  async (javaScriptEnabled) => {
    await withPage({ javaScriptEnabled }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(photo.url);
      await page.locator(".stage img").waitFor();
      expect(await page.screenshot()).not.toHaveLength(0);
      const text = await page.locator("main").textContent();
      for (const part of ["Bucht & Boot.jpg", "OutriggerTest 1.0", "1200 × 800", "JPEG image", "left"]) {
        expect(text).toContain(part);
      }
      expect(await page.content()).not.toContain(photo.pin);
      expect(await page.getByRole("link", { name: "Upload an image" }).getAttribute("href")).toBe(
        `${site.base}/`,
      );
      // Copy buttons appear only where the clipboard is available.
      expect(await page.locator('[aria-label^="Copy "]').count()).toBe(javaScriptEnabled ? 13 : 0);
      expect(complaints).toEqual([]);
    });
  },
);

test("the viewer fits every window width, even with a long image name", async () => {
  const long = await upload(site, svgDrawing, "image/svg+xml", { name: LONG_NAME });
  await withPage({}, async (page) => {
    for (const address of [photo.url, `${report.url}/view?page=2`, long.url]) {
      await page.goto(address);
      expect([address, await overflowsOf(page)]).toEqual([address, []]);
    }
  });
});

test("copy buttons copy addresses and snippets", async () => {
  await withPage({ permissions: ["clipboard-read", "clipboard-write"] }, async (page) => {
    await page.goto(photo.url);
    const original = `${site.base}/api/images/${photo.id}.jpg`;
    const expected = {
      "Page link": `${photo.url}/view`,
      "Direct link": original,
      Markdown: `[![Bucht & Boot.jpg](${original})](${photo.url}/view)`,
      HTML: `<a href="${photo.url}/view"><img src="${original}" alt="Bucht &amp; Boot.jpg"></a>`,
      BBCode: `[url=${photo.url}/view][img]${original}[/img][/url]`,
    };
    await page.getByLabel("More", { exact: true }).click();
    for (const [label, text] of Object.entries(expected)) {
      const button = page.getByRole("button", { name: `Copy ${label}`, exact: true });
      await button.click();
      await page
        .getByRole("status")
        .filter({ hasText: `${label} copied` })
        .waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(text);
      expect(await button.textContent()).toBe("Copied");
    }
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

function chosenSource(page: Page): Promise<string> {
  return page.locator(".stage img").evaluate(async (img: HTMLImageElement) => {
    await img.decode();
    return img.currentSrc;
  });
}

function shownSize(page: Page): Promise<number[]> {
  return page.locator(".stage img").evaluate(async (img: HTMLImageElement) => {
    await img.decode();
    return [img.naturalWidth, img.naturalHeight];
  });
}
