import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idsIn } from "../reliability/crash/left-overs.ts";
import { launchChromium } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";
import { readList } from "./saved-list.ts";
import { choose, entryOf, eventually, linkOf, recordAt } from "./upload-page.ts";

const UPLOADS = "**/api/images.json";
const DAY_MS = 86_400_000;

describe("an upload whose tab was closed", { timeout: 60_000 }, () => {
  let site: Site;
  let browser: Browser;
  let photo: Buffer;

  beforeAll(async () => {
    [photo, site, browser] = await Promise.all([jpegPhoto(120, 80), startSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const boat = (name = "mid.jpg") => ({ name, mimeType: "image/jpeg", buffer: photo });
  const offersOf = (page: Page) => page.locator(".offers");
  const button = (page: Page, name: string) => offersOf(page).getByRole("button", { name, exact: true });

  /** Gives `use` a context, and returns how many images it stored. */
  async function storedIn(use: (context: BrowserContext) => Promise<void>): Promise<number> {
    const before = await idsIn(site.directory);
    const context = await browser.newContext();
    try {
      await use(context);
    } finally {
      await context.close();
    }
    expect(site.errors).toEqual([]);
    return [...(await idsIn(site.directory))].filter((id) => !before.has(id)).length;
  }

  async function open(context: BrowserContext): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${site.base}/`);
    await page.getByText("Drop images here").waitFor();
    return page;
  }

  /** Opens a page and chooses files whose uploads never end. */
  async function openStuck(
    context: BrowserContext,
    files = [boat()],
    prepare: (page: Page) => Promise<unknown> = async () => undefined,
  ): Promise<{ page: Page; keys: string[] }> {
    const page = await open(context);
    const keys: string[] = [];
    await page.route(UPLOADS, (route) => {
      keys.push(route.request().headers()["idempotency-key"] ?? "");
    });
    await prepare(page);
    await choose(page, ...files);
    await eventually(() => keptIn(page)).toBe(files.length);
    return { page, keys };
  }

  /** How many uploads the browser's database has for the service. */
  function keptIn(page: Page): Promise<number> {
    return page.evaluate(async (name) => {
      const found = (await indexedDB.databases()).some((each) => each.name === name);
      if (!found) return 0;
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const opening = indexedDB.open(name);
        opening.onsuccess = () => resolve(opening.result);
        opening.onerror = () => reject(opening.error);
      });
      const counting = database.transaction("uploads").objectStore("uploads").count();
      const count = await new Promise<number>((resolve) => {
        counting.onsuccess = () => resolve(counting.result);
      });
      database.close();
      return count;
    }, `outrigger uploads ${site.base}`);
  }

  test("is offered when the page is opened again, and Continue stores one image with the chosen name and expiry", async () => {
    const stored = await storedIn(async (context) => {
      const { page: closed } = await openStuck(context, [boat()], async (page) => {
        await page.getByLabel("Name (optional)").fill("Regatta");
        await page.getByLabel("Delete after").selectOption("7 days");
      });
      await closed.close();

      const page = await open(context);
      await page.getByRole("heading", { name: "Regatta was not finished" }).waitFor();
      await eventually(() => page.getByRole("log").textContent()).toBe(
        "Regatta was not finished. You can continue or discard.",
      );
      await page.getByLabel("Delete after").selectOption("1 hour");
      await button(page, "Continue Regatta").click();
      await eventually(() => page.evaluate(() => document.activeElement?.id)).toBe("chooser");
      const image = await recordAt(site, await linkOf(entryOf(page, "Regatta")));
      expect(Date.parse(String(image.expiresAt)) - Date.now()).toBeGreaterThan(6 * DAY_MS);
      const [saved] = await readList(page, site);
      expect(saved).toMatchObject({ id: image.id, pin: expect.stringMatching(/^[0-9A-Z]{16}$/) });
      await eventually(() => keptIn(page)).toBe(0);

      await page.reload();
      await page.getByRole("heading", { name: "Your uploads on this device" }).waitFor();
      expect(await offersOf(page).count()).toBe(0);
    });
    expect(stored).toBe(1);
  });

  test("and that had reached the server becomes the same image, with its PIN", async () => {
    const stored = await storedIn(async (context) => {
      const replies: { id: string; pin: string }[] = [];
      const { page: closed } = await openStuck(context, [boat()], async (page) => {
        await page.route(UPLOADS, async (route) => {
          const { id, pin } = (await (await route.fetch()).json()) as { id: string; pin: string };
          replies.push({ id, pin });
        });
      });
      await eventually(() => replies.length).toBe(1);
      expect(await readList(closed, site)).toEqual([]);
      await closed.close();

      const page = await open(context);
      await button(page, "Continue mid.jpg").click();
      await eventually(() => readList(page, site)).toMatchObject(replies);
    });
    expect(stored).toBe(1);
  });

  test("is deleted from the browser by Discard, and an upload that is cancelled or refused is never offered", async () => {
    const stored = await storedIn(async (context) => {
      const { page: closed } = await openStuck(context);
      await closed.close();
      const page = await open(context);
      await button(page, "Discard mid.jpg").click();
      await eventually(() => keptIn(page)).toBe(0);
      expect(await offersOf(page).count()).toBe(0);

      const { page: cancelling } = await openStuck(context, [boat("cancelled.jpg")]);
      await cancelling.getByRole("button", { name: "Cancel cancelled.jpg" }).click();
      await eventually(() => keptIn(cancelling)).toBe(0);
      await cancelling.unroute(UPLOADS);
      await choose(cancelling, { ...boat("broken.png"), buffer: Buffer.from("no picture") });
      await cancelling.locator(".entry.failed").waitFor();
      await eventually(() => keptIn(cancelling)).toBe(0);
    });
    expect(stored).toBe(0);
  });

  test("is not offered while its tab is open, then in every tab, and only one of them sends it", async () => {
    const stored = await storedIn(async (context) => {
      const { page: sending } = await openStuck(context);
      const [one, other] = await Promise.all([open(context), open(context)]);
      await one.waitForTimeout(500);
      expect([await offersOf(one).count(), await offersOf(other).count()]).toEqual([0, 0]);
      await sending.close();
      await Promise.all([offersOf(one).waitFor(), offersOf(other).waitFor()]);
      await button(one, "Continue mid.jpg").click();
      await linkOf(entryOf(one, "mid.jpg"));
      await button(other, "Continue mid.jpg").click();
      await eventually(() => offersOf(other).count()).toBe(0);
      await other.waitForTimeout(500);
      expect(await other.locator(".uploads .entry").count()).toBe(0);
    });
    expect(stored).toBe(1);
  });

  test("without its bytes asks to choose the file again, and the same file goes on under the same key", async () => {
    const stored = await storedIn(async (context) => {
      const large = (name: string) => ({
        ...boat(name),
        buffer: Buffer.concat([photo, Buffer.alloc(4_000_000)]),
      });
      const files = [large("mid.jpg"), large("other.jpg")];
      const { page: closed, keys } = await openStuck(context, files, async (page) => {
        const devtools = await context.newCDPSession(page);
        const quotaSize = 2_000_000;
        await devtools.send("Storage.overrideQuotaForOrigin", { origin: site.origin, quotaSize });
      });
      await closed.close();

      const page = await open(context);
      await page.getByRole("heading", { name: "2 uploads were not finished" }).waitFor();
      expect(await offersOf(page).textContent()).toContain("The file was not kept.");
      expect(
        await offersOf(page)
          .getByRole("button", { name: /^Continue/ })
          .count(),
      ).toBe(0);
      const chooser = page.waitForEvent("filechooser");
      await button(page, "Choose it again (mid.jpg)").click();
      const sent = page.waitForRequest(UPLOADS);
      await (await chooser).setFiles([large("mid.jpg")]);
      expect(keys).toContain((await sent).headers()["idempotency-key"]);
      await linkOf(entryOf(page, "mid.jpg"));

      await button(page, "Discard other.jpg").click();
      await eventually(() => keptIn(page)).toBe(0);
    });
    expect(stored).toBe(1);
  });

  test("and another file of the same name and size becomes a new image", async () => {
    const stored = await storedIn(async (context) => {
      let arrived = 0;
      const { page: closed } = await openStuck(context, [boat()], async (page) => {
        await page.route(UPLOADS, async (route) => {
          await route.fetch();
          arrived += 1;
        });
      });
      await eventually(() => arrived).toBe(1);
      await closed.close();

      const page = await open(context);
      await offersOf(page).waitFor();
      const buffer = Buffer.from(photo);
      // In the middle of the compressed data: still a picture, with other pixels.
      buffer[buffer.length - 20] = (buffer.at(-20) ?? 0) ^ 1;
      await choose(page, { ...boat(), buffer });
      await linkOf(entryOf(page, "mid.jpg"));
    });
    expect(stored).toBe(2);
  });

  test("a browser that forbids its database or has no locks uploads as before", async () => {
    const scripts = [
      () => Object.defineProperty(globalThis, "indexedDB", { value: undefined }),
      () => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }),
      () => {
        IDBFactory.prototype.open = () => {
          throw new DOMException("Forbidden.", "SecurityError");
        };
      },
    ];
    for (const script of scripts) {
      const stored = await storedIn(async (context) => {
        await context.addInitScript(script);
        const page = await open(context);
        const faults: unknown[] = [];
        page.on("pageerror", (fault) => faults.push(fault));
        await choose(page, boat());
        await recordAt(site, await linkOf(entryOf(page, "mid.jpg")));
        expect(faults).toEqual([]);
      });
      expect(stored).toBe(1);
    }
  });
});
