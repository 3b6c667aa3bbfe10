import { createRenderer } from "@outrigger/imaging";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { type Created, upload } from "../support/service.ts";
import { choose, entryOf, menuItem, shareUploadPage, textFile } from "./upload-page.ts";

const SERIOUS = ["serious", "critical"] as const;

const renderer = createRenderer({ timeoutMs: 60_000 });
/** Holds back the next picture. */
let held: Promise<void> | undefined;
let letGo: () => void = () => {};
const admit: typeof renderer.admit = async (...args) => {
  const wait = held;
  held = undefined;
  await wait;
  return renderer.admit(...args);
};
const shared = shareUploadPage({ renderer: { ...renderer, admit }, reports: true });
const { boat, onPage } = shared;
const addresses: Record<string, string> = {};

beforeAll(async () => {
  const { site } = shared;
  const picture = await jpegPhoto(600, 400);
  const photo = await upload(site, picture, "image/jpeg", { name: "Harbour" });
  const long = await upload(site, picture, "image/jpeg", {
    name: `${"W".repeat(120)} ${"a long name ".repeat(11)}`.trim(),
  });
  const tall = await upload(site, await jpegPhoto(60, 3000), "image/jpeg");
  const pdf = await upload(site, numberedPdf(5), "application/pdf");
  const gif = await upload(site, await animatedGif(3), "image/gif");
  const deleted = await upload(site, svgDrawing, "image/svg+xml");
  await fetch(`${site.base}/api/images/${deleted.id}.json?pin=${deleted.pin}`, { method: "DELETE" });
  const withheld = await upload(site, svgDrawing, "image/svg+xml");
  await site.images.withhold(withheld.id, { reason: "By order.", authority: "https://court.example/7" });
  held = new Promise((resolve) => {
    letGo = resolve;
  });
  const pending = (await (
    await postWithHeaders(site, picture, "image/jpeg", RESPOND_ASYNC)
  ).json()) as Created;
  Object.assign(addresses, {
    "viewer of a photograph": photo.url,
    "viewer of a long name": long.url,
    "viewer of a document": `${pdf.url}/view?page=2`,
    "viewer of an animation": gif.url,
    "edit page": `${photo.editUrl}&done=name-expiresAt`,
    "page that asks for the PIN": `${photo.url}/edit?pin=wrong`,
    "page of a deleted image": deleted.url,
    "page of a withheld image": withheld.url,
    "page of an image being processed": pending.url,
    "viewer of a tall picture": tall.url,
    "page that a document does not have": `${pdf.url}/view?page=9`,
    "form to report an image": `${photo.url}/report`,
    "upload page": `${site.base}/`,
  });
});
afterAll(() => letGo());

test("no page has a serious accessibility fault at 320 pixels in light and at 1440 in dark, and all fit every window", async () => {
  await withPage({}, async (page) => {
    const faults: string[] = [];
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(address);
      for (const [width, colorScheme] of [
        [320, "light"],
        [1440, "dark"],
      ] as const) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        const found = await axeFaults(page, {}, SERIOUS);
        faults.push(...found.map((fault) => `${name}, ${colorScheme}: ${fault}`));
      }
      const wide = await overflowsOf(page);
      faults.push(...wide.map((width) => `${name} is wider than ${width} px`));
    }
    expect(faults).toEqual([]);
  });
});

test("the form for browsers without JavaScript has no serious accessibility fault, before and after an upload", async () => {
  const { site, photo } = shared;
  const sent = async (bytes: Buffer) => {
    const form = new FormData();
    form.set("imagedata", new Blob([new Uint8Array(bytes)]), "boat.jpg");
    const headers = { Accept: "text/html" };
    return (await fetch(`${site.base}/`, { method: "POST", body: form, headers })).text();
  };
  const front = await (await fetch(`${site.base}/`)).text();
  // axe-core needs JavaScript, with which a browser would leave out the form.
  await withPage({}, async (page) => {
    for (const html of [front, await sent(Buffer.from("text")), await sent(photo)]) {
      await page.setContent(html.replaceAll(/<script[^>]*><\/script>/g, ""));
      const buttons = page.getByRole("button", { name: "Upload" });
      await expect.poll(() => buttons.count()).toBe(html.includes("<form") ? 1 : 0);
      expect(await axeFaults(page)).toEqual([]);
    }
  });
});

test("rows of stored, refused and saved images have no serious fault in light and dark, fit every window, and are 69 pixels high whatever the reason", async () => {
  const use = async (page: Page) => {
    await choose(page, boat("one.jpg"), boat(`${"W".repeat(120)}.jpg`));
    await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
    await page.reload();
    const detail = "The host accepts no picture of a boat without its sails. ".repeat(4);
    await page.route("**/api/images.json", (route) =>
      /name="name"\s+refused/.test(route.request().postDataBuffer()?.toString("latin1") ?? "")
        ? route.fulfill({ status: 403, json: { detail } })
        : route.continue(),
    );
    const located = await sharp(shared.photo)
      .withExif({ IFD0: { Model: "Camera 3" } })
      .toBuffer();
    const files = [boat("three.jpg"), boat("refused.jpg"), textFile(`${"W".repeat(120)}.txt`)];
    await choose(page, ...files, { ...boat("located.jpg"), buffer: located });
    await page.getByRole("heading", { name: "2 ready · 2 not uploaded" }).waitFor();
    await page.getByText("Not kept: place and camera data").waitFor();
    for (const width of [360, 768, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      const heights = await page
        .locator(".entry")
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
      expect(Math.max(...heights), `${width} px`).toBeLessThanOrEqual(69);
    }
    const reason = entryOf(page, "refused.jpg").locator("summary");
    const isWhole = () => reason.evaluate((line) => line.scrollWidth <= line.clientWidth);
    expect(await isWhole()).toBe(false);
    await reason.click();
    expect(await isWhole()).toBe(true);
    expect(await reason.textContent()).toContain(detail.trim().slice(0, -1));
    await (await menuItem(entryOf(page, "one.jpg"), "Copy edit link")).click();
    await page.getByText("Anyone with the edit link can edit or delete the image.").first().waitFor();
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await axeFaults(page, {}, SERIOUS)).toEqual([]);
    }
    expect(await overflowsOf(page)).toEqual([]);
  };
  await onPage(use, { mayComplain: /Failed to load resource/ });
});

test("the viewer and the edit page work by keyboard alone, and focus is always visible", async () => {
  for (const name of ["viewer of a document", "edit page", "page that asks for the PIN"]) {
    await withPage({}, async (page) => {
      await page.goto(addresses[name] ?? "");
      const wanted = await page
        .locator("a[href], button, input:not([type=hidden]), select, summary")
        .evaluateAll((all) => {
          const shown = all.filter((element) => element.checkVisibility());
          // Tab reaches a group of radio buttons once; arrow keys move within it.
          return shown.filter((element) => !element.matches("input[type=radio]:not(:checked)")).length;
        });
      const seen = new Set<string>();
      for (let presses = 0; presses < wanted * 4 && seen.size < wanted; presses++) {
        await page.keyboard.press("Tab");
        const focused = await page.evaluate(() => {
          const element = document.activeElement;
          if (element === null || element === document.body) return null;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const all = [...document.querySelectorAll("*")];
          return {
            key: String(all.indexOf(element)),
            unseen: outlineStyle === "none" || outlineWidth === "0px" ? element.outerHTML : null,
          };
        });
        if (focused === null) continue;
        expect(focused.unseen).toBeNull();
        seen.add(focused.key);
      }
      expect([name, seen.size]).toEqual([name, wanted]);
    });
  }
});

test("every button keeps a border in forced colours", async () => {
  for (const name of ["upload page", "edit page", "viewer of a document", "page that asks for the PIN"]) {
    await withPage({ forcedColors: "active" }, async (page) => {
      await page.goto(addresses[name] ?? "");
      await page.locator("button, .button").first().waitFor();
      const bare = await page
        .locator("button, .button")
        .evaluateAll((all) =>
          all
            .filter((element) => getComputedStyle(element).borderTopStyle === "none")
            .map((element) => element.outerHTML),
        );
      expect([name, bare]).toEqual([name, []]);
    });
  }
});

test("a page shows no animation when the reader prefers reduced motion", async () => {
  await withPage({ reducedMotion: "reduce" }, async (page) => {
    await page.goto(addresses["page of an image being processed"] ?? "");
    expect(await page.locator(".bar").count()).toBe(1);
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  });
});

test("the upload page works by keyboard alone, from choosing a file to deleting the image", async () => {
  await onPage(async (page) => {
    // Registered early: Playwright does not wait until Chromium has enabled the event.
    const chooser = page.waitForEvent("filechooser");
    await tabTo(page, "Choose images");
    await page.keyboard.press("Enter");
    await (await chooser).setFiles([boat("one.jpg"), boat("two.jpg")]);
    await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
    expect(await focusedLabel(page)).toBe("Choose images");

    await tabTo(page, "Open one.jpg");
    await tabTo(page, "Copy link to one.jpg");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.getByRole("log").textContent()).toContain("Link copied.");
    page.on("dialog", (dialog) => dialog.accept());
    await tabTo(page, "More for one.jpg");
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete…");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".entry").count()).toBe(1);
    expect(await focusedLabel(page)).toBe("Copy link to two.jpg");
    await tabTo(page, "More for two.jpg");
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete…");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator(".entry").count()).toBe(0);
    expect(await focusedLabel(page)).toBe("Choose images");
  });
});

/** Presses Tab until an element with this label has the focus. */
async function tabTo(page: Page, label: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if ((await focusedLabel(page)) === label) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`${label} cannot be reached by Tab; the focus is on ${await focusedLabel(page)}`);
}

function focusedLabel(page: Page): Promise<string> {
  return page.evaluate(() => {
    const focused = document.activeElement;
    return focused?.getAttribute("aria-label") ?? focused?.textContent?.trim() ?? "";
  });
}
