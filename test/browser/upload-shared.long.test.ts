import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idsIn } from "../reliability/crash/left-overs.ts";
import { complaintsOf, launchChromium } from "../support/chromium.ts";
import type { HostName } from "../support/hosts.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite, withSite } from "../support/service.ts";
import { readList } from "./saved-list.ts";
import { entryOf, eventually, linkOf } from "./upload-page.ts";

const MISSED = "The shared files did not arrive. Share them again, or choose them here.";

describe("files that another app shares with the upload page", { timeout: 60_000 }, () => {
  let site: Site;
  let browser: Browser;
  let photo: Buffer;

  beforeAll(async () => {
    [photo, site, browser] = await Promise.all([
      jpegPhoto(120, 80),
      startSite({ mountPath: "/deep/img" }),
      launchChromium(),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  /** Opens the upload page as its installed app, which registers the worker, and returns when the worker is active. */
  async function install(context: BrowserContext, { base }: Site = site): Promise<Page> {
    const page = await context.newPage();
    await page.goto(`${base}/`);
    await page.getByText("Drop images here").waitFor();
    expect(await scopesIn(page)).toEqual([]);
    await page.evaluate(() => dispatchEvent(new Event("appinstalled")));
    await eventually(() => scopesIn(page)).toEqual([`${base}/share-target`]);
    return page;
  }

  /** The scopes of the active workers. */
  function scopesIn(page: Page): Promise<string[]> {
    return page.evaluate(async () => {
      const registrations = await navigator.serviceWorker.getRegistrations();
      return registrations.filter(({ active }) => active?.state === "activated").map(({ scope }) => scope);
    });
  }

  /** Sends the form that the manifest describes, from a page at `from`. */
  async function share(
    page: Page,
    from: string,
    names: readonly string[],
    { base }: Site = site,
    head = "",
  ): Promise<void> {
    await page.route(from, (route) => {
      const form = `${head}<form method="post" enctype="multipart/form-data" action="${base}/share-target">
        <input type="file" name="images" multiple><button>Share</button></form>`;
      return route.fulfill({ contentType: "text/html", body: form });
    });
    await page.goto(from);
    const files = names.map((name) => ({ name, mimeType: "image/jpeg", buffer: photo }));
    await page.locator("input").setInputFiles(files);
    await page.getByRole("button", { name: "Share" }).click();
    await page.getByText("Drop images here").waitFor();
  }

  async function inContext(use: (context: BrowserContext) => Promise<void>): Promise<void> {
    const context = await browser.newContext();
    try {
      await use(context);
    } finally {
      await context.close();
    }
    expect(site.errors).toEqual([]);
  }

  test("are uploaded at once when the share comes from the service's own origin", async () => {
    await inContext(async (context) => {
      const page = await install(context);
      const complaints = complaintsOf(page);
      await share(page, `${site.origin}/gallery`, ["one.jpg", "two.jpg"]);
      await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
      expect((await readList(page, site)).map(({ name }) => name).sort()).toEqual(["one.jpg", "two.jpg"]);
      expect(page.url()).toBe(`${site.base}/`);
      await page.reload();
      await page.getByRole("heading", { name: "Your uploads on this device" }).waitFor();
      expect(await page.locator(".offers").count()).toBe(0);
      expect(await idsIn(site.directory)).toHaveProperty("size", 2);
      expect(complaints).toEqual([]);
    });
  });

  test("wait for an answer when a foreign site shares them, also when its page is opened again", async () => {
    await inContext(async (context) => {
      const before = await idsIn(site.directory);
      const page = await install(context);
      await share(page, "http://foreign.example/attack", ["mine.jpg", "other.jpg"]);
      await page.getByRole("heading", { name: "Upload 2 shared files?" }).waitFor();
      await page.goto(`${site.base}/`, { referer: `${site.origin}/gallery` });
      const offers = page.locator(".offers");
      await offers.getByRole("button", { name: "Discard mine.jpg" }).click();
      await page.getByRole("heading", { name: "Upload other.jpg?" }).waitFor();
      expect(await idsIn(site.directory)).toEqual(before);
      await offers.getByRole("button", { name: "Upload other.jpg" }).click();
      await linkOf(entryOf(page, "other.jpg"));
      expect((await readList(page, site)).map(({ name }) => name)).toEqual(["other.jpg"]);
    });
  });

  test("are uploaded at once by the installed app, which registers the worker itself", async () => {
    await inContext(async (context) => {
      await context.addInitScript(() => {
        const { matchMedia } = window;
        window.matchMedia = (query) => matchMedia(query === "(display-mode: standalone)" ? "all" : query);
      });
      const page = await context.newPage();
      await page.goto(`${site.base}/`);
      await eventually(() => scopesIn(page)).toEqual([`${site.base}/share-target`]);
      // The share sheet sends no referrer, like a page that forbids it.
      await share(
        page,
        `${site.origin}/gallery`,
        ["app.jpg"],
        site,
        '<meta name="referrer" content="no-referrer">',
      );
      await linkOf(entryOf(page, "app.jpg"));
    });
  });

  test("reach no other address through the worker, and its page is not controlled by it", async () => {
    await inContext(async (context) => {
      const page = await install(context);
      await page.reload();
      expect(await page.evaluate(() => navigator.serviceWorker.controller)).toBeNull();
      const [worker] = context.serviceWorkers();
      expect(worker?.url()).toBe(`${site.base}/share-target`);
      // The script itself comes from the server, through the worker's scope.
      const response = await page.goto(`${site.base}/share-target`);
      expect([response?.status(), response?.headers()["cache-control"]]).toEqual([200, "no-cache"]);
    });
  });

  test.each<HostName>(["Express 5", "Koa 3"])(
    "without the worker lead to the page, which asks for them (%s)",
    async (host) => {
      await withSite({ host }, async (other) => {
        await inContext(async (context) => {
          const page = await context.newPage();
          await share(page, `${other.origin}/gallery`, ["lost.jpg"], other);
          await eventually(() => page.getByRole("log").textContent()).toBe(MISSED);
          expect(await page.locator(".advice").textContent()).toBe(MISSED);
          expect(page.url()).toBe(`${other.base}/`);
          expect(await scopesIn(page)).toEqual([]);
        });
      });
    },
  );

  test("make the page an app that Chromium can install", async () => {
    await inContext(async (context) => {
      const page = await context.newPage();
      await page.goto(`${site.base}/`);
      const devtools = await context.newCDPSession(page);
      const { errors, url } = await devtools.send("Page.getAppManifest");
      expect(url).toMatch(new RegExp(`^${site.base}/assets/manifest-[\\w-]{8}\\.webmanifest$`));
      expect(errors).toEqual([]);
      const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
      // A context of a test is a private window, which installs nothing.
      expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
    });
  });
});
