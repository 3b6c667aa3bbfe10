import { readFile } from "node:fs/promises";
import { createRenderer } from "@outrigger/imaging";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { animatedGif, jpegPhoto } from "../support/pictures.ts";
import { postWithHeaders } from "../support/post-with-headers.ts";
import { addressOf, bytesOf, type Created, type Site, startSite, upload } from "../support/service.ts";

let site: Site;
let photo: Created;
let letGo: () => void = () => {};
let held: Promise<void> | undefined;

beforeAll(async () => {
  const renderer = createRenderer({ timeoutMs: 60_000 });
  const admit: typeof renderer.admit = async (...args) => {
    await held;
    return renderer.admit(...args);
  };
  site = await startSite({ renderer: { ...renderer, admit } });
  photo = await upload(site, await jpegPhoto(2200, 1100), "image/jpeg", { name: "Hafen Süd.jpg" });
});
afterAll(async () => {
  letGo();
  await site.close();
});

/** Name and bytes of the file that the form saves. */
async function saved(url: string, format: string, size: string, javaScriptEnabled: boolean) {
  return withPage({ javaScriptEnabled }, async (page) => {
    await page.goto(url);
    await page.getByLabel("Download", { exact: true }).click();
    await page.getByLabel("Format").selectOption(format);
    await page.getByLabel("Size", { exact: true }).selectOption(size);
    const saving = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await saving;
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) };
  });
}

test.each([
  ["JPEG, original", "Original size", "jpg", "", true],
  ["JPEG, low quality", "Medium, 800 px", "jpg", "?convert=low&resize=800x800", true],
  ["WebP", "Small, 320 px", "webp", "?resize=320x320", false],
] as const)("%s in %s is saved from .%s%s (JavaScript: %s)", async (format, size, suffix, query, script) => {
  const { name, bytes } = await saved(photo.url, format, size, script);
  expect(name).toBe(`Hafen Süd.${suffix}`);
  expect(bytes.equals((await bytesOf(addressOf(site, photo.id, suffix) + query)).bytes)).toBe(true);
});

test("a pane that opens below the window is scrolled to", async () => {
  await withPage({ viewport: { width: 1280, height: 800 } }, async (page) => {
    await page.goto(photo.url);
    for (const name of ["Download", "More"]) {
      await page.getByLabel(name, { exact: true }).click();
      const bottom = () =>
        page.locator(".drop[open] > .pane").evaluate((pane) => pane.getBoundingClientRect().bottom);
      await expect.poll(bottom).toBeLessThanOrEqual(800);
    }
  });
});

const files = (url: string) => url.includes("/api/images/");

const failure = (page: Page) => page.locator("figure .placeholder");

const isShown = (page: Page) =>
  page.locator(".stage img").evaluate((image: HTMLImageElement) => image.naturalWidth > 0);

test("a broken connection is said with a button that tries again", async () => {
  await withPage({}, async (page) => {
    await page.route(
      ({ href }) => files(href),
      (route) => route.abort(),
    );
    await page.goto(photo.url);
    await failure(page).getByText("The image could not be loaded.").waitFor();
    expect(await page.getByRole("status").textContent()).toBe("The image could not be loaded.");
    expect(await page.locator(".stage").isVisible()).toBe(false);
    expect(await axeFaults(page)).toEqual([]);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await failure(page).waitFor({ state: "detached" });
    expect(await isShown(page)).toBe(true);
    expect(await overflowsOf(page)).toEqual([]);
  });
});

test("a 503 is tried again by itself after Retry-After, once", async () => {
  await withPage({}, async (page) => {
    let refused = 0;
    await page.route(
      ({ href }) => files(href),
      (route) => {
        refused++;
        return route.fulfill({ status: 503, headers: { "Retry-After": "1" } });
      },
    );
    await page.goto(photo.url);
    // Twice the picture, each time with the question why it failed.
    await expect.poll(() => refused).toBe(4);
    await page.waitForTimeout(1500);
    expect(refused).toBe(4);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => isShown(page)).toBe(true);
  });
});

test("the second try shows the picture without a click", async () => {
  await withPage({}, async (page) => {
    let refused = 0;
    await page.route(
      ({ href }) => files(href),
      (route) =>
        refused++ < 2 ? route.fulfill({ status: 503, headers: { "Retry-After": "1" } }) : route.continue(),
    );
    await page.goto(photo.url);
    await failure(page).waitFor();
    await failure(page).waitFor({ state: "detached" });
    expect(await isShown(page)).toBe(true);
  });
});

test.each(["deleted", "withheld"])("the page of an image that was %s meanwhile says so", async (how) => {
  const { id, pin, url } = await upload(site, await jpegPhoto(640, 480), "image/jpeg", { name: how });
  await withPage({}, async (page) => {
    let isEnded = false;
    await page.route(
      ({ href }) => files(href),
      async (route) => {
        if (!isEnded && how === "withheld") await site.images.withhold(id, { reason: "By order." });
        if (!isEnded && how === "deleted")
          await fetch(`${site.base}/api/images/${id}.json?pin=${pin}`, { method: "DELETE" });
        isEnded = true;
        await route.continue();
      },
    );
    await page.goto(url);
    const heading = how === "deleted" ? "no longer available" : "unavailable for legal reasons";
    await page.getByRole("heading", { name: heading }).waitFor();
  });
});

/** Records what the page hands to the share sheet, which Chromium on Linux does not have. */
function fakeShareSheet(page: Page, refusal: string | null) {
  return page.addInitScript((name) => {
    Object.defineProperty(navigator, "share", {
      async value(data: ShareData) {
        document.documentElement.dataset.shared = `${data.title} ${data.url}`;
        if (name !== null) throw new DOMException("", name);
      },
    });
  }, refusal);
}

test("Share… hands name and link to the share sheet, and explains a refusal", async () => {
  for (const [refusal, text] of [
    [null, ""],
    ["AbortError", ""],
    ["NotAllowedError", "Couldn’t open the share sheet. Copy the link and send it yourself."],
  ] as const) {
    await withPage({}, async (page) => {
      await fakeShareSheet(page, refusal);
      await page.goto(photo.url);
      await page.getByRole("button", { name: "Share…" }).click();
      await page.locator("html[data-shared]").waitFor();
      expect(await page.locator("html").getAttribute("data-shared")).toBe(`Hafen Süd.jpg ${photo.url}/view`);
      await expect.poll(() => page.locator(".headline > .hint").textContent()).toBe(text);
      expect(await overflowsOf(page)).toEqual([]);
    });
  }
});

async function startUpload(bytes: Buffer, type: "image/jpeg" | "image/gif"): Promise<Created> {
  held = new Promise((resolve) => {
    letGo = resolve;
  });
  const response = await postWithHeaders(site, bytes, type, { Prefer: "respond-async" });
  expect(response.status).toBe(202);
  return (await response.json()) as Created;
}

test("the page of an image that is being processed becomes the viewer by itself when that is done, without being loaded in between", async () => {
  const { url } = await startUpload(await jpegPhoto(300, 200), "image/jpeg");
  await withPage({}, async (page) => {
    const complaints = complaintsOf(page);
    let loads = 0;
    page.on("domcontentloaded", () => {
      loads += 1;
    });
    let asked = 0;
    page.on("request", (request) => {
      if (request.resourceType() === "fetch") asked += 1;
    });
    expect((await page.goto(url))?.status()).toBe(202);
    expect(await page.getByRole("heading").textContent()).toBe("Processing image");
    await expect.poll(() => asked).toBeGreaterThan(2);
    expect(loads).toBe(1);
    letGo();
    const picture = page.locator(".stage img");
    await picture.waitFor();
    expect(await picture.evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth))).toBe(
      300,
    );
    expect(loads).toBe(2);
    expect(complaints).toEqual([]);
  });
});

test("without JavaScript, the page of an image that is being processed follows it too, and tells the reason when nothing comes of it", async () => {
  const { url } = await startUpload((await animatedGif()).subarray(0, 400), "image/gif");
  await withPage({ javaScriptEnabled: false }, async (page) => {
    await page.goto(url);
    letGo();
    await page.getByRole("heading", { name: "Page not found" }).waitFor();
    expect(await page.locator(".status").textContent()).toBe("404 Not Found");
    expect((await page.locator(".card p").first().textContent())?.length).toBeGreaterThan(10);
  });
});
