import type { Browser, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { complaintsOf, withPage } from "../support/chromium.ts";
import { addressOf, type Created, type Site } from "../support/service.ts";

/** A file as Playwright hands it to a page. */
export interface ChosenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export interface UploadPageOptions extends BrowserContextOptions {
  /** What the browser may complain of: it reports every refused request. */
  mayComplain?: RegExp;
}

/** Runs `use` on the upload page, then expects no console errors and no requests to other sites. */
export async function onUploadPage(
  browser: Browser,
  site: Site,
  use: (page: Page) => Promise<void>,
  { mayComplain, ...options }: UploadPageOptions = {},
): Promise<void> {
  await withPage(
    browser,
    { permissions: ["clipboard-read", "clipboard-write"], ...options },
    async (page) => {
      const complaints = complaintsOf(page);
      const elsewhere: string[] = [];
      page.on("request", (request) => {
        const url = request.url();
        if (!url.startsWith(`${site.origin}/`) && !url.startsWith("blob:")) elsewhere.push(url);
      });
      await page.goto(`${site.base}/`);
      await page.getByText("Drop images here").waitFor();
      await use(page);
      expect(complaints.filter((complaint) => !mayComplain?.test(complaint))).toEqual([]);
      expect(elsewhere).toEqual([]);
    },
  );
  expect(site.errors).toEqual([]);
}

/** Asks again until it is so: with many browsers at once it takes its time. */
export function eventually<T>(read: () => T | Promise<T>) {
  return expect.poll(read, { timeout: 20_000 });
}

/** Chooses files as by a click. */
export function choose(page: Page, ...files: ChosenFile[]): Promise<void> {
  return page.getByLabel("Choose images").setInputFiles(files);
}

/** What the page shows of an upload: on its way, refused or stored. */
export function entryOf(page: Page, name: string): Locator {
  const bar = page.getByLabel(`Upload of ${name}`, { exact: true });
  return page.locator(".entry").filter({ has: bar.or(page.getByText(name, { exact: true })) });
}

/** The link of a stored image, when it has one. */
export function linkOf(entry: Locator): Promise<string> {
  return entry.getByLabel(/^Link to/).inputValue();
}

/** What a copy button puts on the clipboard. */
export async function copied(page: Page, button: Locator): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await button.click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== "");
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The server's record of the image that a link leads to. */
export async function recordAt(site: Site, link: string): Promise<Created> {
  const id = /([\w-]{22})\/view$/.exec(link)?.[1];
  if (id === undefined) throw new Error(`${link} is no link to an image`);
  const response = await fetch(addressOf(site, id, "json"));
  expect(response.status).toBe(200);
  return (await response.json()) as Created; // The contract's record.
}
