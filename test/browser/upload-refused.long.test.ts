import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { withPage } from "../support/chromium.ts";
import { startSite, withSite } from "../support/quick-site.ts";
import type { Site } from "../support/service.ts";
import {
  choose,
  entryOf,
  hold,
  linkOf,
  onUploadPage,
  shareUploadPage,
  storedAt,
  textFile,
} from "./upload-page.ts";

const REFUSED = { mayComplain: /Failed to load resource/ };

const shared = shareUploadPage();
const { boat, big, onPage } = shared;
const boats = (count: number) => Array.from({ length: count }, (_, index) => boat(`boat ${index + 1}.jpg`));
const headingOf = (page: Page) => page.locator(".upload-bar h2").textContent();

test("refused files come first with their reasons, and Try again and Retry all send those that may succeed", async () => {
  let isOpen = false;
  await withSite({ authorize: (_call, action) => action !== "create" || isOpen }, async (site) => {
    await onUploadPage(
      site,
      async (page) => {
        const fake = { ...boat("fake.png"), buffer: Buffer.from("<p>not a picture</p>") };
        const empty = { ...boat("nothing.png"), buffer: Buffer.alloc(0) };
        await choose(page, ...boats(3), fake, empty, textFile());
        await expect.poll(() => headingOf(page)).toBe("6 not uploaded");
        await expect.poll(() => page.getByRole("log").textContent()).toContain("6 not uploaded.");
        await entryOf(page, "nothing.png").getByText("This file is empty.").waitFor();
        await entryOf(page, "boat 2.jpg").getByText("You can’t upload this here.").waitFor();
        isOpen = true;
        await page.getByRole("button", { name: "Try again with boat 2.jpg" }).click();
        await storedAt(site, page, "boat 2.jpg");
        await page.getByRole("button", { name: "Retry all" }).click();
        await expect.poll(() => headingOf(page)).toBe("3 ready · 3 not uploaded");
        expect(await page.locator(".entry .title").allTextContents()).toEqual([
          ...["fake.png", "nothing.png", "notes.txt"],
          ...boats(3).map(({ name }) => name),
        ]);
        expect(await entryOf(page, "fake.png").textContent()).toMatch(
          /^.*This file can’t be read as an image\..* is not a PNG, JPEG, GIF, SVG, PSD or PDF file/,
        );
        expect(await page.getByRole("button", { name: /Try again|Retry/ }).count()).toBe(0);
        await page.getByRole("button", { name: "Dismiss notes.txt" }).click();
        await expect.poll(() => page.locator(".entry").count()).toBe(5);
      },
      REFUSED,
    );
  });
});

test("Cancel all cancels what is not uploaded, and later uploads work", async () => {
  await onPage(async (page) => {
    const letGo = await hold(page, "**/api/images.json");
    await choose(page, ...boats(20));
    await expect.poll(() => headingOf(page)).toMatch(/^Uploading: 0 of 20 · .+ of .+ kB/);
    await page.getByRole("button", { name: "Cancel all" }).click();
    await expect.poll(() => page.locator(".entry").count()).toBe(0);
    await expect.poll(() => page.getByRole("log").textContent()).toContain("Cancelled 20 uploads.");
    expect(await page.evaluate(() => document.activeElement?.id)).toBe("chooser");
    letGo();
    await choose(page, boat("after.jpg"));
    await storedAt(shared.site, page, "after.jpg");
  });
});

test("the upload continues by itself after the pauses of a 429 and of a 503", async () => {
  await onPage(async (page) => {
    const times: number[] = [];
    await page.clock.install();
    await page.route("**/api/images.json", async (route) => {
      const status = [429, 503][times.length];
      times.push(await page.evaluate(() => Date.now()));
      const headers = { "Retry-After": "600" };
      return status === undefined ? route.continue() : route.fulfill({ status, headers, body: "busy" });
    });
    await page.reload();
    await choose(page, boat());
    const entry = entryOf(page, "boat.jpg");
    await entry.getByText("The server asked to wait.").waitFor();
    const isStored = async () => {
      await page.clock.fastForward(60_000);
      return entry.locator("a.thumbnail").count();
    };
    await expect.poll(isStored).toBe(1);
    const [first = 0, second = 0, third = 0] = times;
    expect(Math.min(second - first, third - second)).toBeGreaterThanOrEqual(600_000);
    await storedAt(shared.site, page, "boat.jpg");
  }, REFUSED);
});

test("a file that is damaged, refused, denied, deleted or withheld after its 202 shows the reason, and cannot be sent again", async () => {
  const site: Site = await startSite({
    asyncAfterMs: 0,
    async inspect(_file, { id, name, sha256 }) {
      if (name === "refused") return { refuse: "Nudity." };
      if (name === "denied") await site.images.deny({ sha256, reason: "This file is denied." });
      if (name === "deleted") await site.images.remove(id);
      if (name === "withheld") await site.images.withhold(id, { reason: "A court decided so." });
      return "accept";
    },
  });
  const use = async (page: Page) => {
    const statuses: number[] = [];
    page.on("response", (response) => {
      if (response.request().method() === "POST") statuses.push(response.status());
    });
    for (const [index, [name, reason]] of [
      ["damaged", "The server says:"],
      ["refused", "Nudity."],
      ["denied", "This file is denied."],
      ["deleted", "was deleted"],
      ["withheld", "A court decided so."],
    ].entries()) {
      // Each has bytes of its own.
      const file = big(10_000 + index, name);
      await choose(page, name === "damaged" ? { ...file, buffer: file.buffer.subarray(0, 20) } : file);
      await entryOf(page, String(name)).getByText(String(reason)).waitFor();
    }
    expect(statuses).toEqual(Array(5).fill(202));
    expect(await page.getByRole("button", { name: /Copy link|Try again|Retry/ }).count()).toBe(0);
    await page.reload();
    await page.locator(".entry .unavailable").waitFor();
    expect(await page.locator(".entry .title").allTextContents()).toEqual(["withheld"]);
  };
  await onUploadPage(site, use, REFUSED).finally(() => site.close());
});

test("a held upload shows its link and that it waits for review, and does not poll", async () => {
  await withSite({ inspect: () => "hold", asyncAfterMs: 0 }, async (site) => {
    await onUploadPage(site, async (page) => {
      await page.clock.install();
      await page.reload();
      await choose(page, boat());
      await page.getByRole("heading", { name: "1 uploaded · 1 waiting for review" }).waitFor();
      const entry = entryOf(page, "boat.jpg");
      expect(await entry.textContent()).toContain("Waits for review. The link works once it is accepted.");
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await page.clock.runFor(600_000);
      expect(asked.filter((url) => url.endsWith(".json"))).toEqual([]);
      expect(await axeFaults(page)).toEqual([]);
      await withPage({}, async (reader) => {
        expect((await reader.goto(await linkOf(entry)))?.status()).toBe(202);
        expect(await reader.getByRole("heading").textContent()).toBe("Waiting for review");
        expect(await axeFaults(reader)).toEqual([]);
        for await (const { id } of site.images.list({ state: "held" })) await site.images.accept(id);
        await reader.reload();
        await reader.locator(".stage img").waitFor();
      });
    });
  });
});
