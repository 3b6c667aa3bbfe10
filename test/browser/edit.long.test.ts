import { createServer, request } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, withPage } from "../support/chromium.ts";
import { listen } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { startSite, withSite } from "../support/quick-site.ts";
import { addressOf, type Created, type Site, upload } from "../support/service.ts";
import { readList } from "./upload-page.ts";

let site: Site;
let photo: Buffer;

beforeAll(async () => {
  [photo, site] = await Promise.all([jpegPhoto(100, 80), startSite({ maxLifetimeMs: null })]);
});
afterAll(() => site.close());

const mine = (name = "before") => upload(site, photo, "image/jpeg", { name });
const save = (page: Page) => page.getByRole("button", { name: "Save changes" }).click();
const notice = (page: Page) => page.locator(".notice").textContent();
const recordOf = async ({ id }: Created) =>
  (await (await fetch(addressOf(site, id, "json"))).json()) as Created;

describe.each([true, false])("the edit page (JavaScript: %s)", (javaScriptEnabled) => {
  test("changes name and expiry, to never and back, and says which of them it did", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled, timezoneId: "Asia/Tokyo" }, async (page) => {
      const complaints = complaintsOf(page);
      const radio = (name: string) => page.getByRole("radio", { name, exact: true });
      await page.goto(image.editUrl);
      await radio("Never").check();
      await save(page);
      await expect.poll(() => notice(page)).toBe("The image no longer expires.");
      expect(await page.locator(".subject").textContent()).toContain("Never expires");
      await page.getByLabel("Name").fill("after");
      await save(page);
      await expect.poll(() => notice(page)).toBe("Name updated.");
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("after");
      expect(await recordOf(image)).toMatchObject({ name: "after", expiresAt: null });

      await radio("In").check();
      await page.getByLabel("Time from now").selectOption("30 days");
      await save(page);
      const zone = javaScriptEnabled ? "GMT+9" : "UTC";
      await expect
        .poll(() => notice(page))
        .toMatch(/^Expiry changed to \w+ \d+, \d{4}, \d+:\d\d [AP]M (GMT\+9|UTC)\.$/);
      expect(await notice(page)).toContain(`${zone}.`);
      const { expiresAt } = await recordOf(image);
      expect(Math.round((Date.parse(String(expiresAt)) - Date.now()) / 86_400_000)).toBe(30);

      const at = Math.floor(Date.now() / 60_000) * 60_000 + 9 * 86_400_000;
      const offsetMs = javaScriptEnabled ? 9 * 3_600_000 : 0;
      expect(await page.locator("#zone").textContent()).toBe(zone);
      await page.getByLabel("Name").fill("at last");
      await radio("On").check();
      await page.getByLabel("Date and time").fill(new Date(at + offsetMs).toISOString().slice(0, 16));
      await save(page);
      await expect.poll(() => notice(page)).toContain("Name updated. Expiry changed to");
      expect(await recordOf(image)).toMatchObject({ name: "at last", expiresAt: new Date(at).toISOString() });
      await save(page);
      await expect.poll(() => notice(page)).toBe("No changes to save.");
      expect(complaints).toEqual([]);
    });
  });

  test("asks for the PIN again when it is wrong, and deletes only when that is confirmed", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled }, async (page) => {
      expect((await page.goto(`${image.url}/edit`))?.status()).toBe(403);
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.getByLabel("PIN").fill("0000000000000000");
      await page.getByRole("button", { name: "Continue" }).click();
      expect(await page.getByRole("alert").textContent()).toBe("Incorrect PIN");
      // As people write it down.
      await page.getByLabel("PIN").fill(image.pin.toLowerCase().replace(/(.{4})(?=.)/g, "$1-"));
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: "Save changes" }).waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("before");

      await page.getByRole("button", { name: "Delete image" }).click();
      expect((await recordOf(image)).name).toBe("before");
      await page.getByLabel("Yes, delete this image").check();
      await page.getByRole("button", { name: "Delete image" }).click();
      await page.waitForURL(javaScriptEnabled ? `${image.url}/view` : `${image.url}/view?done=delete`);
      expect(await page.getByRole("heading").textContent()).toBe("Image deleted");
      expect(await page.locator("main").textContent()).toContain("Its links no longer work.");
      expect(await page.getByRole("main").getByRole("link", { name: "Upload an image" }).count()).toBe(1);
    });
  });

  test("gives the PIN to no other page: no referrer, no title, no cache, no address that it leads to", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled }, async (page) => {
      const sent: string[] = [];
      page.on("request", (request) => {
        const isOwn = request.isNavigationRequest() && request.url().includes("/edit");
        if (!isOwn) sent.push(request.url());
        sent.push(request.headers().referer ?? "");
      });
      const response = await page.goto(image.editUrl);
      expect(response?.headers()).toMatchObject({
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
      });
      expect(await page.title()).not.toContain(image.pin);
      await page.getByLabel("Name").fill("other");
      await save(page);
      await page.locator(".notice").waitFor();
      await page.getByRole("link", { name: "View the image" }).click();
      await page.waitForURL(/\/view$/);
      expect(await page.evaluate(() => document.referrer)).toBe("");
      expect(await page.content()).not.toContain(image.pin);
      expect(sent.filter((text) => text.includes(image.pin))).toEqual([]);
    });
  });
});

test("a refused form keeps what was typed, and ties the message to the field in focus", async () => {
  const image = await mine();
  await withPage({}, async (page) => {
    await page.goto(image.editUrl);
    // As a browser without date limits sends it.
    const form = page.locator("form").first();
    await form.evaluate((element) => element.setAttribute("novalidate", ""));
    await page.getByLabel("Name").fill("typed");
    await page.getByRole("radio", { name: "On", exact: true }).check();
    const field = page.getByLabel("Date and time");
    await field.fill("2020-01-02T03:04");
    await save(page);
    const fault = page.locator("#expiresAt-fault");
    await fault.getByText("Choose a time in the future.").waitFor();
    expect(await page.getByLabel("Name").inputValue()).toBe("typed");
    expect(await field.inputValue()).toBe("2020-01-02T03:04");
    expect(await page.getByRole("radio", { name: "On", exact: true }).isChecked()).toBe(true);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.getAttribute("aria-describedby")).toMatch(/^expiresAt-fault /);
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("expires-at");
    expect((await recordOf(image)).name).toBe("before");
  });
});

test("after Save the address has neither PIN nor result, and a reload opens the form again without a notice", async () => {
  const image = await mine();
  await withPage({}, async (page) => {
    await page.goto(image.editUrl);
    expect(page.url()).toBe(image.editUrl);
    await page.getByLabel("Name").fill("after");
    await save(page);
    await page.waitForURL(`${image.url}/edit`);
    expect(await notice(page)).toBe("Name updated.");
    for (let reloads = 0; reloads < 2; reloads++) {
      await page.reload();
      await page.getByRole("button", { name: "Save changes" }).waitFor();
      await page.waitForURL(`${image.url}/edit`);
      expect(await page.locator(".notice").count()).toBe(0);
    }
  });
});

test("a change and a deletion reach the saved list of the browser that uploaded the image, which needs no PIN", async () => {
  const image = await mine();
  const other = { ...image, id: "A".repeat(22), url: `${site.base}/${"A".repeat(22)}` };
  await withPage({}, async (page) => {
    await page.goto(`${image.url}/view`);
    await page.evaluate(
      ([key, saved]) => localStorage.setItem(key ?? "", saved ?? ""),
      [`outrigger uploads ${site.base}`, JSON.stringify([image, other])],
    );
    await page.goto(`${image.url}/edit`);
    await page.getByLabel("Name").fill("after");
    for (const [choice, expires] of [
      ["In", expect.any(String)],
      ["Never", null],
    ] as const) {
      await page.getByRole("radio", { name: choice, exact: true }).check();
      if (choice === "In") await page.getByLabel("Time from now").selectOption("30 days");
      await save(page);
      const listed = async () => (await readList(page, site))[0];
      await expect.poll(listed).toMatchObject({ name: "after", expiresAt: expires, pin: image.pin });
    }
    const { name, expiresAt } = await recordOf(image);
    expect([name, expiresAt]).toEqual(["after", null]);

    await page.getByLabel("Yes, delete this image").check();
    await page.getByRole("button", { name: "Delete image" }).click();
    await page.waitForURL(`${image.url}/view`);
    await expect.poll(async () => (await readList(page, site)).map(({ id }) => id)).toEqual([other.id]);
  });
});

test("under a host name other than the public one, the page loads its assets and its forms return to the same host", async () => {
  let target = "";
  const front = createServer((req, res) => {
    const { method = "GET", headers } = req;
    req.pipe(
      request(target + req.url, { method, headers }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      }),
    );
  });
  const { port, close } = await listen(front);
  const publicUrl = `http://localhost:${port}/img`;
  await withSite({ publicUrl }, async (hidden) => {
    target = hidden.origin;
    const image = await upload(hidden, photo, "image/jpeg");
    expect(image.editUrl.startsWith(publicUrl)).toBe(true);
    await withPage({}, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl.replace("localhost", "127.0.0.1"));
      await page.locator("#expires-hint output").waitFor({ state: "attached" });
      await page.getByLabel("Name").fill("after");
      await save(page);
      await page.waitForURL(/localhost.*\/edit$/);
      expect(complaints).toEqual([]);
    });
  });
  await close();
});
