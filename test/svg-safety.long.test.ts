import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanSvg } from "../packages/imaging/src/worker/svg/clean-svg.ts";
import { newContext } from "./support/chromium.ts";
import type { Attack } from "./svg/attack.ts";
import { type AttackSite, startAttackSite } from "./svg/attack-site.ts";
import { attackVectors } from "./svg/vectors.ts";

let site: AttackSite;
let context: BrowserContext;
let page: Page;
/** Addresses that the page loaded or tried to load. */
const requests: string[] = [];
const dialogs: string[] = [];

beforeAll(async () => {
  site = await startAttackSite();
  context = await newContext();
  page = await context.newPage();
  page.on("request", (request) => requests.push(request.url()));
  page.on("dialog", (dialog) => {
    dialogs.push(dialog.message());
    return dialog.dismiss();
  });
});
afterAll(async () => {
  await context.close();
  await site.close();
});

/** Every attack, each with its own address on the server that must get no request. */
function numberedAttacks(): (Attack & { index: number })[] {
  const attack = (index: number): Attack | undefined => {
    const elsewhere = `${site.elsewhere}/${index}`;
    // The end keeps a link's script from becoming the page, which would cancel what it has begun to load.
    const script = `window.ran=1;document.title='ran';new Image().src='${elsewhere}/ran';void 0`;
    return attackVectors({ elsewhere, script })[index];
  };
  const found = [];
  for (let index = 0, next = attack(0); next !== undefined; index++, next = attack(index)) {
    found.push({ ...next, index });
  }
  return found;
}

/** What is left of each attack that is not refused, by its text: of many it is the same. */
function cleanedAttacks(): Map<string, string> {
  const titles = new Map<string, string>();
  for (const { title, svg } of numberedAttacks()) {
    try {
      titles.set(cleanSvg(Buffer.from(svg)).toString(), title);
      const url = `data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`;
      const around = `<svg xmlns="http://www.w3.org/2000/svg"><image width="99" height="99" href="${url}"/></svg>`;
      titles.set(cleanSvg(Buffer.from(around)).toString(), `${title}, embedded`);
    } catch (error) {
      expect(error).toMatchObject({ code: "unsupported_media" });
    }
  }
  return titles;
}

/** Opens a file on its own, clicks into its middle, and tells what should not be there once that has been drawn. */
async function findDeeds(address: string): Promise<string[]> {
  requests.length = 0;
  await page.goto(address);
  await page.mouse.click(50, 50);
  const found = await page.evaluate(async () => {
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    const deeds = "ran" in window || document.title === "ran" ? ["its script ran"] : [];
    for (const element of document.querySelectorAll("*")) {
      if (element.namespaceURI !== "http://www.w3.org/2000/svg") deeds.push(element.tagName);
      for (const { localName, value } of element.attributes) {
        const isOut = localName === "href" && !/^(?:#|data:image\/)/.test(value);
        if (isOut || /^on/i.test(localName)) deeds.push(`${localName}=${value}`);
      }
    }
    return deeds;
  });
  // An icon is the browser's own wish.
  const own = new Set([address, new URL("/favicon.ico", address).href]);
  return [...found, ...requests.filter((request) => !own.has(request) && !request.startsWith("data:image/"))];
}

test("no cleaned attack runs or loads anything when opened without protective headers and clicked", async () => {
  const cleaned = cleanedAttacks();
  expect(cleaned.size).toBeGreaterThan(30);
  await page.setViewportSize({ width: 100, height: 100 });
  for (const [svg, title] of cleaned) {
    expect(await findDeeds(site.show(svg)), `${title}: ${svg}`).toEqual([]);
  }
  expect(dialogs).toEqual([]);
  expect(site.asked).toEqual([]);
});

test("without cleaning Chromium executes the attacks, so the test above detects them", async () => {
  const real = numberedAttacks().filter(({ does }) => does !== undefined);
  expect(real.length).toBeGreaterThan(100);
  await page.setViewportSize({ width: 1000, height: Math.ceil(real.length / 10) * 100 });
  await page.goto(site.gather(real.map(({ svg }) => site.show(svg))));
  for (let place = 0; place < real.length; place++) {
    await page.mouse.click((place % 10) * 100 + 50, Math.floor(place / 10) * 100 + 50);
  }
  const harmless = (): string[] => {
    // Of some things the browser asks only a server that allows it, but it tried.
    const traces = new Set([...site.asked, ...requests.map((address) => new URL(address).pathname)]);
    return real
      .filter(({ does, index }) => {
        if (does === "run") return !traces.has(`/${index}/ran`);
        return ![...traces].some((path) => path.startsWith(`/${index}/`));
      })
      .map(({ title }) => title);
  };
  await expect.poll(harmless).toEqual([]);
});
