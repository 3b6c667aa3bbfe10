import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withSite } from "../support/quick-site.ts";
import {
  choose,
  copied,
  entryOf,
  hold,
  onUploadPage,
  readList,
  shareUploadPage,
  storedAt,
} from "./upload-page.ts";

const REFUSED = { mayComplain: /Failed to load resource/ };
const PART_BYTES = 8 * 2 ** 20;

const shared = shareUploadPage({ resumable: true });
const { boat, big, onPage } = shared;

let directory: string;
/** A file of 10 MB, which the browser reads from disk, and recognises. */
let bigFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outrigger-upload-"));
  bigFile = join(directory, "big.jpg");
  await writeFile(bigFile, big(10_000_000).buffer);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** How many images `work` leaves on the shared site. */
async function storedBy(work: () => Promise<void>): Promise<number> {
  const ids = async () => {
    const found: string[] = [];
    for await (const { id } of shared.site.images.list()) found.push(id);
    return found;
  };
  const before = (await ids()).length;
  await work();
  return (await ids()).length - before;
}

test("100 small files arrive without a pause under the default limits, counted in the bar and the title", async () => {
  await withSite({ rateLimits: {} }, async (limited) => {
    await onUploadPage(limited, async (page) => {
      const statuses: number[] = [];
      page.on("response", (response) => {
        if (response.request().method() === "POST") statuses.push(response.status());
      });
      const plain = await page.title();
      const letGo = await hold(page, "**/api/images.json");
      await choose(page, ...Array.from({ length: 100 }, (_, index) => boat(`boat ${index}.jpg`)));
      await page.getByRole("progressbar", { name: "All uploads" }).waitFor();
      expect(await page.title()).toMatch(/^\(0\/100\) Uploading – Upload images/);
      letGo();
      await page.getByRole("heading", { name: "100 images are ready to share" }).waitFor();
      expect(statuses).toEqual(Array(100).fill(201));
      expect(await page.title()).toBe(plain);
      expect(await page.getByRole("progressbar").count()).toBe(0);
      const links = await copied(page, page.getByRole("button", { name: "Copy all links" }));
      expect(new Set(links.split("\n")).size).toBe(100);
    });
  });
});

test("a large upload shows its progress, leaving is questioned, and Cancel deletes what the service has of it", async () => {
  const count = await storedBy(() =>
    onPage(async (page) => {
      const id = await sendFirstPart(page);
      const entry = entryOf(page, "big.jpg");
      const bar = entry.getByRole("progressbar", { name: "Upload of big.jpg" });
      expect(await bar.evaluate((element) => (element as HTMLProgressElement).value)).toBe(PART_BYTES);
      expect(await entry.textContent()).toContain("8 MB of 9.54 MB · 83%");
      expect(await leavingAsks(page)).toBe(true);
      await entry.getByRole("button", { name: "Cancel big.jpg" }).click();
      await expect.poll(() => entry.count()).toBe(0);
      expect(await leavingAsks(page)).toBe(false);
      await expect.poll(() => askAbout(id, "HEAD")).toBe(404);
      await expect.poll(() => unfinishedIn(page)).toEqual([]);
    }),
  );
  expect(count).toBe(0);
});

test("the upload of a closed window continues at the last byte when its file is chosen in another, and anew if the service has deleted it", async () => {
  for (const isDeleted of [false, true]) {
    await onPage(async (page) => {
      const id = await sendFirstPart(page);
      const other = await page.context().newPage();
      await other.goto(page.url());
      await other.getByText("Drop images here").waitFor();
      expect(await entryOf(other, "big.jpg").count()).toBe(0);
      if (isDeleted) expect(await askAbout(id, "DELETE")).toBe(204);
      await page.close();
      const offsets: number[] = [];
      other.on("request", (request) => {
        if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
      });
      await other.getByLabel("Choose images").setInputFiles(bigFile);
      const { id: stored } = await storedAt(shared.site, other, "big.jpg");
      // The end of its window may let some of the second part go.
      expect([isDeleted, (offsets[0] ?? 0) >= PART_BYTES]).toEqual([isDeleted, !isDeleted]);
      expect(await unfinishedIn(other)).toEqual([]);
      expect(await readList(other, shared.site)).toMatchObject([
        { id: stored, pin: expect.stringMatching(/^\w{16}$/) },
      ]);
    }, REFUSED);
  }
});

test("an upload that loses the network resumes by itself and stores one image", async () => {
  const count = await storedBy(() =>
    onPage(async (page) => {
      const line = await page.context().newCDPSession(page);
      const limit = (offline: boolean, uploadThroughput = -1) =>
        line.send("Network.emulateNetworkConditions", {
          ...{ offline, uploadThroughput },
          ...{ latency: 0, downloadThroughput: -1 },
        });
      await limit(false, 100_000);
      await choose(page, big(900_000));
      const entry = entryOf(page, "big.jpg");
      const bar = entry.getByRole("progressbar");
      const sent = () => bar.evaluate((element) => (element as HTMLProgressElement).value);
      await expect.poll(sent).toBeGreaterThan(10_000);
      await limit(true);
      await entry.getByText("You’re offline. The upload will resume when you reconnect.").waitFor();
      await choose(page, boat("meanwhile.jpg"));
      await limit(false);
      for (const name of ["big.jpg", "meanwhile.jpg"]) await storedAt(shared.site, page, name);
    }, REFUSED),
  );
  expect(count).toBe(2);
});

test("an upload whose answer was lost is repeated with the same key and stores one image", async () => {
  const count = await storedBy(() =>
    onPage(async (page) => {
      const keys: (string | undefined)[] = [];
      await page.route("**/api/images.json", async (route) => {
        keys.push(route.request().headers()["idempotency-key"]);
        if (keys.length > 1) return route.continue();
        await route.fetch();
        return route.abort("connectionreset");
      });
      await choose(page, boat());
      await storedAt(shared.site, page, "boat.jpg");
      expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]]);
    }, REFUSED),
  );
  expect(count).toBe(1);
});

/** Sends the first part of the large file, and holds the second one back. @returns ID of the upload */
async function sendFirstPart(page: Page): Promise<string> {
  let parts = 0;
  await page.route("**/api/uploads/*", async (route) => {
    // Without an answer, the request lasts until it is cancelled.
    if (route.request().method() !== "PATCH" || ++parts === 1) await route.continue();
  });
  await page.getByLabel("Choose images").setInputFiles(bigFile);
  await expect.poll(() => parts).toBe(2);
  const [id = ""] = await unfinishedIn(page);
  return id;
}

/** IDs of the unfinished uploads that the browser remembers. */
function unfinishedIn(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    Object.entries(localStorage)
      .filter(([key]) => key.startsWith("tus::"))
      .map(([, text]) => String(JSON.parse(text).uploadUrl.split("/").at(-1))),
  );
}

/** Status of a request of another client about an upload. */
async function askAbout(id: string, method: "HEAD" | "DELETE"): Promise<number> {
  const headers = { "Tus-Resumable": "1.0.0", "User-Agent": "test" };
  return (await fetch(`${shared.site.base}/api/uploads/${id}`, { method, headers })).status;
}

/** Whether the browser asks for confirmation before it leaves the page. */
function leavingAsks(page: Page): Promise<boolean> {
  return page.evaluate(() => !window.dispatchEvent(new Event("beforeunload", { cancelable: true })));
}
