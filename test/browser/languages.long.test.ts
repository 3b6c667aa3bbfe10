import { createAdminPages } from "@outrigger/web";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import en from "../../packages/web/src/messages/en.json" with { type: "json" };
import { overflowsOf, withPage } from "../support/chromium.ts";
import { startHost } from "../support/hosts.ts";
import { linkOf, shareUploadPage, textFile } from "./upload-page.ts";

/** Every text in brackets and 40 % longer, so that a text beside the catalogue is seen, and a narrow window is full. */
const PSEUDO = Object.fromEntries(
  Object.entries(en).map(([key, text]) => [key, `⟦${text}${"·".repeat(Math.ceil(text.length * 0.4))}⟧`]),
);
/** Data, names of formats and products, and the status of HTTP. Dates and amounts are in Arabic: `Intl` writes them. */
const DATA =
  /410 Gone|[\w-]{22}|boat\.jpg|notes\.txt|Outrigger|ShareX|Markdown|HTML|BBCode|WebP|(?:Headless)?Chrom\w*|\b[A-Z]{3,4}\b|https?:\S+/g;

/** Those that do not come from the catalogue. */
function foreignIn(texts: readonly string[]): string[] {
  // A text may stand in another one, or have markup in it.
  const own = /⟦[^⟦⟧]*(?:⟧|$)|^[^⟦⟧]*⟧/g;
  const others = texts.map((text) => text.replace(own, "").replace(own, "").replace(DATA, ""));
  return others.filter((text) => /[^\p{Script=Arabic}\P{L}]/u.test(text));
}

/** The texts that a reader sees or hears. */
function textsOf(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.documentElement, NodeFilter.SHOW_ALL);
    for (let node: Node | null = walker.currentNode; node !== null; node = walker.nextNode()) {
      if (node instanceof Element) {
        for (const name of ["title", "alt", "aria-label", "aria-roledescription", "placeholder"])
          found.push(node.getAttribute(name) ?? "");
      } else if (node.parentElement?.closest("script, style, title, noscript") === null) {
        found.push(node.textContent ?? "");
      }
    }
    return found;
  });
}

async function expectWhole(page: Page): Promise<void> {
  expect(foreignIn(await textsOf(page))).toEqual([]);
  expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
  expect(await overflowsOf(page)).toEqual([]);
}

const shared = shareUploadPage({ reports: true, pages: { locale: "ar", messages: { ar: PSEUDO } } });

test("in a long language from right to left, upload page, viewer, edit page, report and refusals have no other text, and fit every window", async () => {
  const { id: gone } = await shared.add("boat.jpg");
  await shared.site.images.remove(gone);
  await withPage({}, async (page) => {
    await page.goto(`${shared.site.base}/`);
    await page.locator("#chooser").waitFor({ state: "attached" });
    await expectWhole(page);
    await page.locator("#chooser").setInputFiles([shared.boat(), textFile()]);
    await page.locator(".entry.failed").waitFor();
    const link = await linkOf(page.locator(".entry.ready"));
    await expectWhole(page);
    for (const width of [320, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await page.locator(".entry button[popovertarget]").first().click();
      const { x = -1, width: of = 0 } = (await page.locator(".menu:popover-open").boundingBox()) ?? {};
      expect([width, x >= 0, x + of <= width]).toEqual([width, true, true]);
      expect(foreignIn(await textsOf(page))).toEqual([]);
      await page.keyboard.press("Escape");
    }
    await page.goto(link);
    await openAll(page);
    const report = String(await page.locator('footer a[rel="nofollow"]').getAttribute("href"));
    for (const address of [link.replace(/view$/, "edit"), `${shared.site.base}/${gone}/view`, report]) {
      await page.goto(address);
      await expectWhole(page);
    }
  });
});

test("in a long language from right to left, the page of the person who decides has no other text, and fits every window", async () => {
  await shared.add("boat.jpg");
  const pages = createAdminPages({
    ...{ images: shared.site.images, authorize: () => ({ by: "MIA" }) },
    ...{ locale: "ar", messages: { ar: PSEUDO } },
  });
  const admin = await startHost("Express 5", pages, "/admin/images");
  onTestFinished(() => admin.close());
  await withPage({}, async (page) => {
    await page.goto(`${admin.base}/`);
    const links = page.locator("nav a:not([href$=jsonl])");
    for (const view of ["", ...(await links.evaluateAll((all) => all.map((a) => a.getAttribute("href"))))]) {
      await page.goto(new URL(view ?? "", `${admin.base}/`).href);
      await openAll(page);
    }
  });
});

/** Opens every part that can be opened, and checks the page before and after. */
async function openAll(page: Page): Promise<void> {
  await expectWhole(page);
  for (const summary of await page.locator("summary").all()) {
    await summary.click();
    await expectWhole(page);
  }
}
