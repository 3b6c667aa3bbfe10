import { brotliCompressSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { type Site, startSite, upload } from "../support/service.ts";

let site: Site;
let browser: Browser;

beforeAll(async () => {
  [site, browser] = await Promise.all([startSite(), launchChromium()]);
});
afterAll(async () => {
  await browser.close();
  await site.close();
});

/** Bytes of a page and of all that it loads but pictures, as they travel compressed. */
async function weightOf(address: string): Promise<number> {
  return withPage(browser, {}, async (page) => {
    const loaded = new Map<string, string>();
    page.on("response", (response) => {
      const type = response.request().resourceType();
      if (type !== "image") loaded.set(response.url(), type);
    });
    await page.goto(address, { waitUntil: "networkidle" });
    let bytes = 0;
    for (const [url, type] of loaded) {
      const response = await fetch(url, { headers: { Accept: "text/html,*/*", "Accept-Encoding": "br" } });
      const body = Buffer.from(await response.arrayBuffer());
      // A page itself is compressed by the host, where it is.
      const isCompressed = response.headers.get("content-encoding") === "br";
      expect([type, isCompressed]).toEqual([type, type !== "document"]);
      bytes += isCompressed
        ? Number(response.headers.get("content-length"))
        : brotliCompressSync(body).length;
    }
    return bytes;
  });
}

test("the viewer weighs at most 10 kB, script and styles included", async () => {
  const { url } = await upload(site, numberedPdf(5), "application/pdf", { name: "Report" });
  const bytes = await weightOf(`${url}/view?page=2`);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThanOrEqual(10_000);
});

test("the upload page weighs at most 40 kB, script and styles included", async () => {
  const bytes = await weightOf(`${site.base}/`);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThanOrEqual(40_000);
});
