import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idsIn } from "../reliability/crash/left-overs.ts";
import { launchChromium } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, type SiteOptions, startSite } from "../support/service.ts";
import { choose, entryOf, eventually, linkOf, onUploadPage, recordAt } from "./upload-page.ts";

const REFUSED = /Failed to load resource/;
const FAST = -1;

describe("uploads that do not go straight through", { timeout: 60_000 }, () => {
  let browser: Browser;
  let photo: Buffer;
  let directory: string;
  /** With default options. */
  let site: Site;
  /** 20 MB, on disk: the browser reads them itself. */
  let bigFile: string;

  beforeAll(async () => {
    [photo, browser, site] = await Promise.all([jpegPhoto(120, 80), launchChromium(), startSite()]);
    directory = await mkdtemp(join(tmpdir(), "outrigger-upload-"));
    bigFile = join(directory, "big.jpg");
    await writeFile(bigFile, big(20_000_000).buffer);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
    await rm(directory, { recursive: true, force: true });
  });

  const boat = (name = "boat.jpg") => ({ name, mimeType: "image/jpeg", buffer: photo });
  /** Photos may be followed by anything. */
  const big = (bytes: number) => ({
    ...boat("big.jpg"),
    buffer: Buffer.concat([photo, Buffer.alloc(bytes - photo.length)]),
  });

  /** How many images `work` leaves on the shared site. */
  async function storedBy(work: () => Promise<void>): Promise<number> {
    const before = await idsIn(site.directory);
    await work();
    return [...(await idsIn(site.directory))].filter((id) => !before.has(id)).length;
  }

  async function withSite(options: SiteOptions, use: (site: Site) => Promise<void>): Promise<void> {
    const site = await startSite(options);
    try {
      await use(site);
    } finally {
      await site.close();
    }
  }

  test("20 MB tell how far they are, can be cancelled, and leave nothing behind then", async () => {
    const stored = await storedBy(() =>
      onUploadPage(browser, site, async (page) => {
        const line = await throttled(page, 2_000_000);
        await page.getByLabel("Choose images").setInputFiles(bigFile);
        const entry = entryOf(page, "big.jpg");
        const bar = entry.getByRole("progressbar", { name: "Upload of big.jpg" });
        await eventually(() => sentBy(bar)).toBeGreaterThan(100_000);
        expect(await sentBy(bar)).toBeLessThan(20_000_000);
        await eventually(() => entry.textContent()).toMatch(/[\d.]+ MB of 20 MB · \d+ %/);
        expect(await leavingAsks(page)).toBe(true);
        await entry.getByRole("button", { name: "Cancel big.jpg" }).click();
        await eventually(() => entry.count()).toBe(0);
        expect(await leavingAsks(page)).toBe(false);

        await throttle(line, FAST);
        await choose(page, boat());
        await recordAt(site, await linkOf(entryOf(page, "boat.jpg")));
      }),
    );
    expect(stored).toBe(1);
  });

  test("the network may go away in the middle: it goes on by itself, and stores once", async () => {
    const stored = await storedBy(() =>
      onUploadPage(
        browser,
        site,
        async (page) => {
          const line = await throttled(page, 400_000);
          await choose(page, big(4_000_000));
          const entry = entryOf(page, "big.jpg");
          await eventually(() => sentBy(entry.getByRole("progressbar"))).toBeGreaterThan(10_000);
          await throttle(line, 0);
          await entry.getByText("You’re offline. The upload will resume when you reconnect.").waitFor();
          await choose(page, boat("meanwhile.jpg"));
          await throttle(line, FAST);
          await recordAt(site, await linkOf(entry));
          await recordAt(site, await linkOf(entryOf(page, "meanwhile.jpg")));
        },
        { mayComplain: REFUSED },
      ),
    );
    expect(stored).toBe(2);
  });

  test("an answer that was lost does not make a second image", async () => {
    const stored = await storedBy(() =>
      onUploadPage(
        browser,
        site,
        async (page) => {
          let lost = 0;
          const keys: (string | undefined)[] = [];
          await page.route("**/api/images.json", async (route) => {
            keys.push(route.request().headers()["idempotency-key"]);
            if (lost++ > 0) return route.continue();
            await route.fetch();
            return route.abort("connectionreset");
          });
          await choose(page, boat());
          await recordAt(site, await linkOf(entryOf(page, "boat.jpg")));
          expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
        },
        { mayComplain: REFUSED },
      ),
    );
    expect(stored).toBe(1);
  });

  test("what is too large, empty or of another kind is not even sent", async () => {
    await withSite({ maxUploadBytes: 10_000 }, async (site) => {
      await onUploadPage(browser, site, async (page) => {
        const sent: string[] = [];
        page.on("request", (request) => {
          if (request.method() === "POST") sent.push(request.url());
        });
        const notes = { ...boat("notes.txt"), mimeType: "text/plain" };
        await choose(page, big(20_000), notes, { ...boat("nothing.png"), buffer: Buffer.alloc(0) });
        await entryOf(page, "big.jpg").getByText("too large (20 kB). The limit is 10 kB.").waitFor();
        await entryOf(page, "notes.txt").getByText("Use PNG, JPEG, GIF, SVG, PSD or PDF.").waitFor();
        await entryOf(page, "nothing.png").getByText("This file is empty.").waitFor();
        expect(await page.getByRole("button", { name: "Try again" }).count()).toBe(0);
        await eventually(() => page.getByRole("log").textContent()).toContain(
          "notes.txt: This file type isn’t supported.",
        );
        await page.getByRole("button", { name: "Dismiss notes.txt" }).click();
        await eventually(() => page.locator(".entry").count()).toBe(2);
        expect(sent).toEqual([]);
      });
    });
  });

  test("the server's reasons are told, and who may try again can", async () => {
    let isOpen = false;
    await withSite({ authorize: (_call, action) => action !== "create" || isOpen }, async (site) => {
      await onUploadPage(
        browser,
        site,
        async (page) => {
          await choose(page, boat());
          const entry = entryOf(page, "boat.jpg");
          await entry.getByText("You don’t have permission to upload here.").waitFor();
          isOpen = true;
          await entry.getByRole("button", { name: "Try again" }).click();
          await recordAt(site, await linkOf(entry));

          const fake = {
            name: "fake.png",
            mimeType: "image/png",
            buffer: Buffer.from("<p>not a picture</p>"),
          };
          await choose(page, fake);
          const refused = entryOf(page, "fake.png");
          await refused.getByText("This file can’t be read as an image.").waitFor();
          expect(await refused.textContent()).toContain("is not a PNG, JPEG, GIF, SVG, PSD or PDF file");
        },
        { mayComplain: REFUSED },
      );
    });
  });

  test("the pause that the service's own limit asks for is told", async () => {
    await withSite({ rateLimits: { creates: 1 } }, async (site) => {
      await onUploadPage(
        browser,
        site,
        async (page) => {
          await choose(page, boat("one.jpg"));
          await recordAt(site, await linkOf(entryOf(page, "one.jpg")));
          await choose(page, boat("two.jpg"));
          await entryOf(page, "two.jpg")
            .getByText(/The server asked to wait. Continuing in \d+ s\./)
            .waitFor();
          await page.getByRole("button", { name: "Cancel two.jpg" }).click();
          await eventually(() => page.locator(".entry").count()).toBe(1);
        },
        { mayComplain: REFUSED },
      );
    });
  });

  test.each([429, 503])("%i is waited for, and the upload goes on by itself", async (status) => {
    let refusals = 2;
    await onUploadPage(
      browser,
      site,
      async (page) => {
        await page.route("**/api/images.json", async (route) => {
          if (refusals-- <= 0) return route.continue();
          return route.fulfill({ status, headers: { "Retry-After": "1" }, body: "busy" });
        });
        await choose(page, boat());
        await entryOf(page, "boat.jpg").getByText("The server asked to wait.").waitFor();
        await recordAt(site, await linkOf(entryOf(page, "boat.jpg")));
        expect(refusals).toBeLessThan(0);
      },
      { mayComplain: REFUSED },
    );
  });

  test("what turns out to be unreadable after it was accepted is told, and can be sent again", async () => {
    await withSite({ asyncAfterMs: 0 }, async (site) => {
      await onUploadPage(
        browser,
        site,
        async (page) => {
          const answers: number[] = [];
          page.on("response", (response) => {
            if (response.request().method() === "POST") answers.push(response.status());
          });
          await choose(page, { ...boat("torn.jpg"), buffer: photo.subarray(0, 200) });
          const entry = entryOf(page, "torn.jpg");
          await entry.getByText("The server says:").waitFor();
          expect(await entry.getByRole("button", { name: "Copy link" }).count()).toBe(0);
          await entry.getByRole("button", { name: "Try again" }).click();
          await eventually(() => answers).toEqual([202, 202]);
          await entry.getByText("The server says:").waitFor();
          await page.reload();
          expect(await page.locator(".entry").count()).toBe(0);
        },
        { mayComplain: REFUSED },
      );
    });
  });

  test("202 is waited for, and a name given meanwhile is kept", async () => {
    await withSite({ asyncAfterMs: 0 }, async (site) => {
      await onUploadPage(browser, site, async (page) => {
        let held: () => void = () => undefined;
        const release = new Promise<void>((resolve) => {
          held = resolve;
        });
        await page.route("**/api/images/*.json", async (route) => {
          await release;
          await route.continue();
        });
        await choose(page, boat());
        const entry = page.locator(".entry");
        await entry.getByText("Uploaded. Preparing the preview…").waitFor();
        await entry.getByLabel("Name", { exact: true }).fill("late name");
        await page.keyboard.press("Enter");
        held();
        await page.getByRole("heading", { name: "Your image is ready to share" }).waitFor();
        const link = await linkOf(entry);
        await eventually(async () => (await recordAt(site, link)).name).toBe("late name");
      });
    });
  });
});

async function throttled(page: Page, bytesPerSecond: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await throttle(session, bytesPerSecond);
  return session;
}

/** 0: as if the cable were pulled out. */
async function throttle(session: CDPSession, bytesPerSecond: number): Promise<void> {
  const line = {
    offline: bytesPerSecond === 0,
    latency: 0,
    downloadThroughput: FAST,
    uploadThroughput: bytesPerSecond,
  };
  await session.send("Network.emulateNetworkConditions", line);
}

async function sentBy(bar: ReturnType<Page["locator"]>): Promise<number> {
  return bar.evaluate((element) => (element as HTMLProgressElement).value);
}

/** Whether somebody who leaves the page is asked first. */
function leavingAsks(page: Page): Promise<boolean> {
  return page.evaluate(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
}
