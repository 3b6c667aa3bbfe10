import { createRenderer } from "@outrigger/imaging";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { launchChromium, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { animatedGif, jpegPhoto, svgDrawing } from "../support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

const SERIOUS = ["serious", "critical"] as const;

describe("accessibility", () => {
  let site: Site;
  let browser: Browser;
  const addresses: Record<string, string> = {};
  let letGo: () => void = () => {};

  beforeAll(async () => {
    const renderer = createRenderer();
    let held: Promise<void> | undefined;
    const admit: typeof renderer.admit = async (...args) => {
      await held;
      return renderer.admit(...args);
    };
    [site, browser] = await Promise.all([
      startSite({ renderer: { ...renderer, admit }, reports: true }),
      launchChromium(),
    ]);
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
  afterAll(async () => {
    letGo();
    await browser.close();
    await site.close();
  });

  test.each([320, 1440])(
    "no page has a serious accessibility fault at %i pixels wide, in light and in dark",
    async (width) => {
      await withPage(browser, { viewport: { width, height: 900 } }, async (page) => {
        const faults: string[] = [];
        for (const [name, address] of Object.entries(addresses)) {
          await page.emulateMedia({ colorScheme: "light" });
          await page.goto(address);
          const inLight = await axeFaults(page, {}, SERIOUS);
          await page.emulateMedia({ colorScheme: "dark" });
          // The second run differs only in colours.
          const inDark = await axeFaults(
            page,
            { runOnly: ["color-contrast", "link-in-text-block"] },
            SERIOUS,
          );
          faults.push(
            ...inLight.map((fault) => `${name}: ${fault}`),
            ...inDark.map((fault) => `${name}, dark: ${fault}`),
          );
        }
        expect(faults).toEqual([]);
      });
    },
  );

  test("the viewer and the edit page work by keyboard alone, and focus is always visible", async () => {
    for (const name of ["viewer of a document", "edit page", "page that asks for the PIN"]) {
      await withPage(browser, {}, async (page) => {
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
      await withPage(browser, { forcedColors: "active" }, async (page) => {
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
    await withPage(browser, { reducedMotion: "reduce" }, async (page) => {
      await page.goto(addresses["page of an image being processed"] ?? "");
      expect(await page.locator(".bar").count()).toBe(1);
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    });
  });
});
