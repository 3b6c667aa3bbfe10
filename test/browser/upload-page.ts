import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import type { SavedImage } from "../../packages/web/browser/saved/saved-image.ts";
import { complaintsOf, withPage } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { startSite } from "../support/quick-site.ts";
import { addressOf, type Created, type Site, type SiteOptions, upload } from "../support/service.ts";

/** A file in the form that Playwright passes to a page. */
export interface ChosenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

export interface UploadPageOptions extends BrowserContextOptions {
  /** Complaints expected from the browser: it reports every refused request. */
  mayComplain?: RegExp;
}

/** A site and a photo that the tests of one file share. */
export interface SharedPage {
  readonly site: Site;
  readonly photo: Buffer;
  /** The photo as a file to choose. */
  boat(name?: string): ChosenFile;
  /** The photo with bytes after its end, which do no harm. */
  big(bytes: number, name?: string): ChosenFile;
  /** Uploads the photo as another client. */
  add(name: string): Promise<Created>;
  onPage(use: (page: Page) => Promise<void>, options?: UploadPageOptions): Promise<void>;
}

/** Opens a site before the tests of the present file, and closes it afterwards. It renders nothing unless `options` say so. */
export function shareUploadPage(options: SiteOptions = {}): SharedPage {
  const shared = {} as { site: Site; photo: Buffer }; // Filled before the first test.
  beforeAll(async () => {
    [shared.site, shared.photo] = await Promise.all([startSite(options), jpegPhoto(120, 80)]);
  });
  afterAll(() => shared.site.close());
  const boat = (name = "boat.jpg") => ({ name, mimeType: "image/jpeg", buffer: shared.photo });
  return Object.assign(shared, {
    boat,
    big: (bytes: number, name = "big.jpg") => ({
      ...boat(name),
      buffer: Buffer.concat([shared.photo], bytes),
    }),
    add: (name: string) => upload(shared.site, shared.photo, "image/jpeg", { name }),
    onPage: (use: (page: Page) => Promise<void>, pageOptions?: UploadPageOptions) =>
      onUploadPage(shared.site, use, pageOptions),
  });
}

/** Opens the upload page for `use`, then checks that it logged no complaint and sent no request elsewhere. */
export async function onUploadPage(
  site: Site,
  use: (page: Page) => Promise<void>,
  { mayComplain, ...options }: UploadPageOptions = {},
): Promise<void> {
  await withPage({ permissions: ["clipboard-read", "clipboard-write"], ...options }, async (page) => {
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
  });
  expect(site.errors).toEqual([]);
}

/** A file that the page refuses. */
export function textFile(name = "notes.txt"): ChosenFile {
  return { name, mimeType: "text/plain", buffer: Buffer.from("text") };
}

/** Chooses files as a click on the file input does. */
export function choose(page: Page, ...files: ChosenFile[]): Promise<void> {
  return page.getByLabel("Choose images").setInputFiles(files);
}

/** The page's entry for an upload: in progress, refused or stored. */
export function entryOf(page: Page, name: string): Locator {
  const bar = page.getByLabel(`Upload of ${name}`, { exact: true });
  return page.locator(".entry").filter({ has: bar.or(page.getByText(name, { exact: true })) });
}

/** The link of a stored image; absent until it is stored. */
export function linkOf(entry: Locator): Promise<string> {
  return entry.locator("a.thumbnail").evaluate((link) => (link as HTMLAnchorElement).href);
}

/** Opens the menu of an entry, and returns one of its actions. */
export async function menuItem(entry: Locator, name: string): Promise<Locator> {
  await entry.getByRole("button", { name: /^More for/ }).click();
  return entry.locator(".menu").locator("a, button").filter({ hasText: name });
}

/** Holds the page's requests to an address back until the returned function is called. */
export async function hold(page: Page, address: string): Promise<() => void> {
  let letGo = (): void => undefined;
  const isOver = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  await page.route(address, async (route) => {
    await isOver;
    // A cancelled request cannot go on.
    await route.continue().catch(() => undefined);
  });
  return letGo;
}

/** The text that a copy button puts on the clipboard. */
export async function copied(page: Page, button: Locator): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await button.click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) !== "");
  return page.evaluate(() => navigator.clipboard.readText());
}

/** The server's record of the image behind a link. */
export async function recordAt(site: Site, link: string): Promise<Created> {
  const id = /([\w-]{22})\/view$/.exec(link)?.[1];
  if (id === undefined) throw new Error(`${link} is not a link to an image`);
  const response = await fetch(addressOf(site, id, "json"));
  expect(response.status).toBe(200);
  return (await response.json()) as Created; // The contract's record.
}

/** The server's record of the image that an entry of the page has stored. */
export async function storedAt(site: Site, page: Page, name: string): Promise<Created> {
  return recordAt(site, await linkOf(entryOf(page, name)));
}

/** The list that the upload page saves in this browser. */
export function readList(page: Page, site: Site): Promise<SavedImage[]> {
  return page.evaluate(
    (key) => JSON.parse(localStorage.getItem(key) ?? "[]") as SavedImage[],
    `outrigger uploads ${site.base}`,
  );
}
