import { createRenderer } from "@outrigger/imaging";
import type { Page, Route } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { animatedGif, jpegPhoto } from "../support/pictures.ts";
import { postWithHeaders, RESPOND_ASYNC } from "../support/post-with-headers.ts";
import { type Created, type Site, startSite, upload } from "../support/service.ts";

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
  photo = await upload(site, await jpegPhoto(300, 200), "image/jpeg");
});
afterAll(async () => {
  letGo();
  await site.close();
});

const picture = (page: Page) => page.locator(".stage img");
const widthOf = (page: Page) =>
  picture(page).evaluate((img: HTMLImageElement) => img.decode().then(() => img.naturalWidth));
const onFiles = (page: Page, answer: (route: Route) => unknown, times?: number) =>
  page.route(({ pathname }) => pathname.includes("/api/images/"), answer, times ? { times } : {});

test("a picture that cannot be loaded is said with a button that tries again; a 503 is tried again once after its Retry-After", async () => {
  await withPage({}, async (page) => {
    await page.clock.install();
    await onFiles(page, (route) => route.abort());
    await page.goto(photo.url);
    const notice = page.locator("figure .placeholder");
    await notice.getByText("The image could not be loaded.").waitFor();
    expect(await page.getByRole("status").textContent()).toBe("The image could not be loaded.");
    expect(await page.locator(".stage").isVisible()).toBe(false);
    expect([await axeFaults(page), await overflowsOf(page)]).toEqual([[], []]);
    await page.unrouteAll();
    let refused = 0;
    await onFiles(page, (route) => {
      refused++;
      return route.fulfill({ status: 503, headers: { "Retry-After": "600" } });
    });
    await page.getByRole("button", { name: "Try again" }).click();
    // Twice the picture, each time with the question why it failed.
    const isAskedAgain = async () => {
      await page.clock.fastForward(601_000);
      return refused;
    };
    await expect.poll(() => refused).toBe(2);
    await expect.poll(isAskedAgain).toBe(4);
    await page.clock.runFor(1_200_000);
    expect(refused).toBe(4);
    await page.unrouteAll();
    await page.getByRole("button", { name: "Try again" }).click();
    await notice.waitFor({ state: "detached" });
    expect(await widthOf(page)).toBe(300);
  });
});

test("the page of an image that was deleted or withheld meanwhile says so", async () => {
  for (const how of ["deleted", "withheld"]) {
    const { id, url } = await upload(site, await jpegPhoto(640, 480), "image/jpeg", { name: how });
    await withPage({}, async (page) => {
      const end = async (route: Route) => {
        if (how === "withheld") await site.images.withhold(id, { reason: "By order." });
        else await site.images.remove(id);
        await route.continue();
      };
      await onFiles(page, end, 1);
      await page.goto(url);
      const name = how === "deleted" ? "no longer available" : "unavailable for legal reasons";
      await page.getByRole("heading", { name }).waitFor();
    });
  }
});

async function startUpload(bytes: Buffer, type: "image/jpeg" | "image/gif"): Promise<Created> {
  held = new Promise((resolve) => {
    letGo = resolve;
  });
  const response = await postWithHeaders(site, bytes, type, RESPOND_ASYNC);
  expect(response.status).toBe(202);
  return (await response.json()) as Created;
}

test("the page of an image that is being processed becomes the viewer by itself when that is done, without being loaded in between", async () => {
  const { url } = await startUpload(await jpegPhoto(300, 200), "image/jpeg");
  await withPage({}, async (page) => {
    const complaints = complaintsOf(page);
    let [loads, asked] = [0, 0];
    page.on("domcontentloaded", () => loads++);
    page.on("request", (request) => {
      if (request.resourceType() === "fetch") asked++;
    });
    await page.clock.install();
    expect((await page.goto(url))?.status()).toBe(202);
    expect(await page.getByRole("heading").textContent()).toBe("Processing image");
    const askedSoon = async () => {
      await page.clock.fastForward(30_000);
      return asked;
    };
    await expect.poll(askedSoon).toBeGreaterThan(2);
    expect(loads).toBe(1);
    letGo();
    await picture(page).waitFor();
    expect(await widthOf(page)).toBe(300);
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
