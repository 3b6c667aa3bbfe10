import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CDPSession, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Site, startSite } from "../support/service.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { choose, entryOf, eventually, linkOf, onUploadPage, recordAt } from "./upload-page.ts";

const BROKEN = /Failed to load resource/;
const SIDE = 2400;
const FAST = -1;

let site: Site;
let proxy: TcpProxy;
let directory: string;
/** A PNG of 17 MB, in which every byte counts. */
let noise: string;
let size: number;

beforeAll(async () => {
  site = await startSite({ resumable: true, maxUploadBytes: 64 * 2 ** 20 });
  directory = await mkdtemp(join(tmpdir(), "outrigger-resumable-"));
  noise = join(directory, "noise.png");
  const raw = { width: SIDE, height: SIDE, channels: 3 } as const;
  const png = await sharp(randomBytes(SIDE * SIDE * 3), { raw })
    .png({ compressionLevel: 0 })
    .toBuffer();
  size = png.length;
  await writeFile(noise, png);
});
beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(site.origin).port));
});
afterEach(() => proxy.close());
afterAll(async () => {
  await site.close();
  await rm(directory, { recursive: true, force: true });
});

/** Opens the page through the proxy. */
function onPage(use: (page: Page) => Promise<void>): Promise<void> {
  const fronted = { ...site, origin: proxy.endpoint, base: `${proxy.endpoint}/img` };
  return onUploadPage(fronted, use, { mayComplain: BROKEN });
}

/** Starts the upload of the large file on a slow line, and waits until more than half of it is sent. */
async function sendHalf(page: Page): Promise<CDPSession> {
  const line = await page.context().newCDPSession(page);
  // Slow enough to be broken before its end.
  await throttle(line, 1_500_000);
  await page.getByLabel("Choose images").setInputFiles(noise);
  const bar = page.getByRole("progressbar", { name: "Upload of noise.png" });
  await eventually(() => bar.evaluate((element) => (element as HTMLProgressElement).value)).toBeGreaterThan(
    size * 0.55,
  );
  return line;
}

test("an upload that breaks at 90 % continues there, and its progress never returns to 0", async () => {
  await onPage(async (page) => {
    await page.evaluate(() => {
      const values: number[] = [];
      Object.assign(window, { values });
      setInterval(() => {
        const bar = document.querySelector<HTMLProgressElement>(".entry progress");
        if (bar?.hasAttribute("value")) values.push(bar.value);
      }, 10);
    });
    const sentBefore = proxy.sentBytes();
    const line = await sendHalf(page);
    const afterBytes = Math.max(0, 0.9 * size - (proxy.sentBytes() - sentBefore));
    proxy.cut({ direction: "up", afterBytes, times: 1 });
    await throttle(line, FAST);
    await recordAt(site, await linkOf(entryOf(page, "noise.png")));
    expect(proxy.cuts()).toBe(1);
    // Chromium repeats the part of 8 MiB by itself, before it reports the broken connection.
    expect(proxy.sentBytes() - sentBefore).toBeLessThan(size + 9 * 2 ** 20);
    const values = await page.evaluate<number[]>("window.values");
    const first = values.findIndex((value) => value > 0);
    expect(Math.min(...values.slice(first))).toBeGreaterThan(0);
  });
});

test("the upload of a closed window continues at the last byte when its file is chosen in another", async () => {
  await onPage(async (page) => {
    const sentBefore = proxy.sentBytes();
    await sendHalf(page);
    const other = await openAgain(page);
    await other.getByText("Drop images here").waitFor();
    expect(await entryOf(other, "noise.png").count()).toBe(0);
    await page.close();
    await other.getByLabel("Choose images").setInputFiles(noise);
    const entry = entryOf(other, "noise.png");
    const image = await recordAt(site, await linkOf(entry));
    expect(image).toMatchObject({ name: "noise.png", width: SIDE, status: "ready" });
    expect(proxy.sentBytes() - sentBefore).toBeLessThan(1.2 * size);
    await expectKept(other, image.id);
  });
});

test("after a reload, an upload that the service has deleted meanwhile begins anew by itself", async () => {
  await onPage(async (page) => {
    await sendHalf(page);
    const [left] = await unfinishedIn(page);
    await page.reload();
    expect(await deleteUpload(left)).toBe(204);
    await page.getByLabel("Choose images").setInputFiles(noise);
    const image = await recordAt(site, await linkOf(entryOf(page, "noise.png")));
    expect(image).toMatchObject({ width: SIDE });
    await expectKept(page, image.id);
  });
});

test("Cancel deletes the part at the service", async () => {
  await onPage(async (page) => {
    await sendHalf(page);
    const [part] = await unfinishedIn(page);
    await entryOf(page, "noise.png").getByRole("button", { name: "Cancel noise.png" }).click();
    await eventually(() => stateOf(part)).toBe(404);
    await eventually(() => unfinishedIn(page)).toEqual([]);
  });
});

test("a refused file has the same message as without resumable uploads", async () => {
  const text = { name: "notes.jpg", mimeType: "image/jpeg", buffer: Buffer.alloc(2_000_000, "text ") };
  const said: (string | null)[] = [];
  await onPage(async (page) => {
    await choose(page, text);
    const trouble = entryOf(page, "notes.jpg").locator(".trouble");
    said.push(await trouble.textContent());
    await page.route("**/api/uploads", (route) => route.fulfill({ status: 404 }));
    await entryOf(page, "notes.jpg").getByRole("button", { name: "Dismiss notes.jpg" }).click();
    await choose(page, text);
    said.push(await trouble.textContent());
  });
  expect(said).toEqual([expect.stringMatching(/./), said[0]]);
});

async function openAgain(page: Page): Promise<Page> {
  const other = await page.context().newPage();
  await other.goto(page.url());
  return other;
}

/** The browser has the image's PIN, which deletes it, and no unfinished upload. */
async function expectKept(page: Page, id: string): Promise<void> {
  expect(await unfinishedIn(page)).toEqual([]);
  const pin = await page.evaluate((wanted) => {
    const [, list = "[]"] =
      Object.entries(localStorage).find(([key]) => key.startsWith("outrigger uploads ")) ?? [];
    return JSON.parse(list).find((image: { id: string }) => image.id === wanted)?.pin;
  }, id);
  const reply = await fetch(`${site.base}/api/images/${id}.json?pin=${pin}`, { method: "DELETE" });
  expect(reply.status).toBe(204);
}

function headersFor(method: string): RequestInit {
  return { method, headers: { "Tus-Resumable": "1.0.0", "User-Agent": "test" } };
}

async function stateOf(uploadId: string | undefined): Promise<number> {
  return (await fetch(`${site.base}/api/uploads/${uploadId}`, headersFor("HEAD"))).status;
}

async function deleteUpload(uploadId: string | undefined): Promise<number> {
  return (await fetch(`${site.base}/api/uploads/${uploadId}`, headersFor("DELETE"))).status;
}

/** IDs of the unfinished uploads that the browser remembers. */
function unfinishedIn(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    Object.entries(localStorage)
      .filter(([key]) => key.startsWith("tus::"))
      .map(([, text]) => String(JSON.parse(text).uploadUrl.split("/").at(-1))),
  );
}

/** Limits the upload rate, bytes per second. */
async function throttle(session: CDPSession, uploadThroughput: number): Promise<void> {
  const line = { offline: false, latency: 0, downloadThroughput: FAST, uploadThroughput };
  await session.send("Network.emulateNetworkConditions", line);
}
