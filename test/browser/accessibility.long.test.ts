import { createRenderer } from "@outrigger/imaging";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { type Created, upload } from "../support/service.ts";
import { choose, entryOf, eventually, linkOf, menuItem, shareUploadPage, textFile } from "./upload-page.ts";

const SERIOUS = ["serious", "critical"] as const;
/** Rules about colours, the only difference between light and dark. */
const COLOURS = { runOnly: ["color-contrast", "link-in-text-block"] };

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
  const long = await upload(site, picture, "image/jpeg", { name: "W".repeat(255) });
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

test("no page has a serious accessibility fault at 320 and 1440 pixels wide, in light and in dark", async () => {
  await withPage({}, async (page) => {
    const faults: string[] = [];
    for (const [name, address] of Object.entries(addresses)) {
      await page.emulateMedia({ colorScheme: "light" });
      await page.goto(address);
      for (const width of [320, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          const found = await axeFaults(page, colorScheme === "dark" ? COLOURS : {}, SERIOUS);
          faults.push(...found.map((fault) => `${name}, ${width} px, ${colorScheme}: ${fault}`));
        }
      }
    }
    expect(faults).toEqual([]);
  });
});

test("the upload page with rows and a saved list has no serious fault in light and dark, and fits every window width", async () => {
  await onPage(async (page) => {
    expect(await overflowsOf(page)).toEqual([]);
    await choose(page, boat("one.jpg"), boat(`${"W".repeat(120)}.jpg`));
    await page.getByRole("heading", { name: "2 images are ready to share" }).waitFor();
    await page.reload();
    await choose(page, boat("three.jpg"), textFile());
    await linkOf(entryOf(page, "three.jpg"));
    await (await menuItem(entryOf(page, "one.jpg"), "Copy edit link")).click();
    await page.getByText("Anyone with the edit link can edit or delete the image.").first().waitFor();
    expect(await axeFaults(page, {}, SERIOUS)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await axeFaults(page, COLOURS, SERIOUS)).toEqual([]);
    expect(await overflowsOf(page)).toEqual([]);
  });
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
    await eventually(() => page.getByRole("log").textContent()).toContain("Link copied.");
    page.on("dialog", (dialog) => dialog.accept());
    await tabTo(page, "More for one.jpg");
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete…");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".entry").count()).toBe(1);
    expect(await focusedLabel(page)).toBe("Copy link to two.jpg");
    await tabTo(page, "More for two.jpg");
    await page.keyboard.press("Enter");
    await tabTo(page, "Delete…");
    await page.keyboard.press("Enter");
    await eventually(() => page.locator(".entry").count()).toBe(0);
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
