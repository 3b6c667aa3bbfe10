import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { idsIn } from "../reliability/crash/left-overs.ts";
import { axeFaults } from "../support/axe-faults.ts";
import { withPage } from "../support/chromium.ts";
import { withSite } from "../support/service.ts";
import {
  choose,
  entryOf,
  eventually,
  linkOf,
  onUploadPage,
  recordAt,
  shareUploadPage,
} from "./upload-page.ts";

const REFUSED = /Failed to load resource/;
const FAST = -1;

const shared = shareUploadPage();
const { boat, big, onPage } = shared;
let directory: string;
/** A file of 20 MB, which the browser reads from disk. */
let bigFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-upload-"));
  bigFile = join(directory, "big.jpg");
  await writeFile(bigFile, big(20_000_000).buffer);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** How many images `work` leaves on the shared site. */
async function storedBy(work: () => Promise<void>): Promise<number> {
  const before = await idsIn(shared.site.directory);
  await work();
  return [...(await idsIn(shared.site.directory))].filter((id) => !before.has(id)).length;
}

test("an upload of 20 MB shows its progress, and Cancel removes it without a stored image", async () => {
  const stored = await storedBy(() =>
    onPage(async (page) => {
      const line = await throttled(page, 2_000_000);
      await page.getByLabel("Choose images").setInputFiles(bigFile);
      const entry = entryOf(page, "big.jpg");
      const bar = entry.getByRole("progressbar", { name: "Upload of big.jpg" });
      await eventually(() => sentBy(bar)).toBeGreaterThan(100_000);
      expect(await sentBy(bar)).toBeLessThan(20_000_000);
      await eventually(() => entry.textContent()).toMatch(/[\d.]+ MB of 19.1 MB · \d+%/);
      expect(await leavingAsks(page)).toBe(true);
      await entry.getByRole("button", { name: "Cancel big.jpg" }).click();
      await eventually(() => entry.count()).toBe(0);
      expect(await leavingAsks(page)).toBe(false);

      await throttle(line, FAST);
      await choose(page, boat());
      await recordAt(shared.site, await linkOf(entryOf(page, "boat.jpg")));
    }),
  );
  expect(stored).toBe(1);
});

test("an upload that loses the network resumes by itself and stores one image", async () => {
  const stored = await storedBy(() =>
    onPage(
      async (page) => {
        const line = await throttled(page, 400_000);
        await choose(page, big(4_000_000));
        const entry = entryOf(page, "big.jpg");
        await eventually(() => sentBy(entry.getByRole("progressbar"))).toBeGreaterThan(10_000);
        await throttle(line, 0);
        await entry.getByText("You’re offline. The upload will resume when you reconnect.").waitFor();
        await choose(page, boat("meanwhile.jpg"));
        await throttle(line, FAST);
        await recordAt(shared.site, await linkOf(entry));
        await recordAt(shared.site, await linkOf(entryOf(page, "meanwhile.jpg")));
      },
      { mayComplain: REFUSED },
    ),
  );
  expect(stored).toBe(2);
});

test("an upload whose answer was lost is repeated with the same key and stores one image", async () => {
  const stored = await storedBy(() =>
    onPage(
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
        await recordAt(shared.site, await linkOf(entryOf(page, "boat.jpg")));
        expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
      },
      { mayComplain: REFUSED },
    ),
  );
  expect(stored).toBe(1);
});

test("the page waits after a 202 until the image is served", async () => {
  await withSite({ asyncAfterMs: 0 }, async (site) => {
    await onUploadPage(site, async (page) => {
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
      expect(await entry.getByRole("button").count()).toBe(0);
      held();
      await page.getByRole("heading", { name: "Your image is ready to share" }).waitFor();
      await recordAt(site, await linkOf(entry));
    });
  });
});

test("a held upload shows its link and that it waits for review, and does not poll", async () => {
  await withSite({ inspect: () => "hold", asyncAfterMs: 0 }, async (site) => {
    await onUploadPage(site, async (page) => {
      await choose(page, boat());
      await page.getByRole("heading", { name: "1 uploaded · 1 waiting for review" }).waitFor();
      const entry = entryOf(page, "boat.jpg");
      expect(await entry.textContent()).toContain("Waits for review. The link works once it is accepted.");
      const address = await linkOf(entry);
      let asked = 0;
      page.on("request", (request) => {
        if (request.url().endsWith(".json")) asked++;
      });
      await page.waitForTimeout(3_000);
      expect(asked).toBe(0);
      expect(await axeFaults(page)).toEqual([]);

      await withPage({}, async (reader) => {
        expect((await reader.goto(address))?.status()).toBe(202);
        expect(await reader.getByRole("heading").textContent()).toBe("Waiting for review");
        expect(await axeFaults(reader)).toEqual([]);
        for await (const { id } of site.images.list({ state: "held" })) await site.images.accept(id);
        await reader.reload();
        await reader.locator(".stage img").waitFor();
      });
    });
  });
});

async function throttled(page: Page, bytesPerSecond: number): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page);
  await throttle(session, bytesPerSecond);
  return session;
}

/** Limits the upload rate; 0 takes the browser offline. */
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

/** Whether the browser asks for confirmation before it leaves the page. */
function leavingAsks(page: Page): Promise<boolean> {
  return page.evaluate(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
}
