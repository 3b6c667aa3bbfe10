import { createServer, request } from "node:http";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { complaintsOf, withPage } from "../support/chromium.ts";
import { listen } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { addressOf, type Created, type Site, startSite, upload, withSite } from "../support/service.ts";
import { partOf } from "../support/soak.ts";
import { readList } from "./saved-list.ts";

/** Whether the browser runs scripts. */
const SCRIPTING = partOf([true, false], [true]);

let site: Site;
let photo: Buffer;

beforeAll(async () => {
  [photo, site] = await Promise.all([jpegPhoto(100, 80), startSite()]);
});
afterAll(() => site.close());

describe.each(SCRIPTING)("the edit page in Chromium (JavaScript: %s)", (javaScriptEnabled) => {
  const mine = (name = "before") => upload(site, photo, "image/jpeg", { name });
  const saved = (page: Page) => page.getByRole("button", { name: "Save changes" }).click();
  const notice = (page: Page) => page.locator(".notice").textContent();
  const recordOf = async ({ id }: Created) =>
    (await (await fetch(addressOf(site, id, "json"))).json()) as Created;

  test("renames and prolongs, and says which of them it did", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled, timezoneId: "Asia/Tokyo" }, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl);
      await page.getByLabel("Name").fill("after");
      await saved(page);
      await expect.poll(() => notice(page)).toBe("Name updated.");
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("after");

      await page.getByRole("radio", { name: "In", exact: true }).check();
      await page.getByLabel("Time from now").selectOption({ label: "30 days" });
      await saved(page);
      await expect
        .poll(() => notice(page))
        .toMatch(
          javaScriptEnabled
            ? /^Expiry changed to \w+ \d+, \d{4}, \d+:\d\d [AP]M GMT\+9\.$/
            : /^Expiry changed to \w+ \d+, \d{4}, \d+:\d\d [AP]M UTC\.$/,
        );
      const { expiresAt } = await recordOf(image);
      expect(Math.round((Date.parse(String(expiresAt)) - Date.now()) / 86_400_000)).toBe(30);

      const at = Math.floor(Date.now() / 60_000) * 60_000 + 9 * 86_400_000;
      const offsetMs = javaScriptEnabled ? 9 * 3_600_000 : 0;
      expect(await page.locator("#zone").textContent()).toBe(javaScriptEnabled ? "GMT+9" : "UTC");
      await page.getByLabel("Name").fill("at last");
      await page.getByRole("radio", { name: "On", exact: true }).check();
      await page.getByLabel("Date and time").fill(new Date(at + offsetMs).toISOString().slice(0, 16));
      await saved(page);
      await expect.poll(() => notice(page)).toContain("Name updated. Expiry changed to");
      expect(await recordOf(image)).toMatchObject({
        name: "at last",
        expiresAt: new Date(at).toISOString(),
      });

      await saved(page);
      await expect.poll(() => notice(page)).toBe("No changes to save.");
      expect(complaints).toEqual([]);
    });
  });

  test("keeps what was typed when it refuses, and ties the message to the field in focus", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      // As a browser without date limits sends it.
      await page
        .locator("form")
        .first()
        .evaluate((form: HTMLFormElement) => {
          form.noValidate = true;
        });
      await page.getByLabel("Name").fill("typed");
      await page.getByRole("radio", { name: "On", exact: true }).check();
      await page.getByLabel("Date and time").fill("2020-01-02T03:04");
      await saved(page);
      const field = page.getByLabel("Date and time");
      await page.locator(".fault").waitFor();
      expect(await page.getByLabel("Name").inputValue()).toBe("typed");
      expect(await field.inputValue()).toBe("2020-01-02T03:04");
      expect(await page.getByRole("radio", { name: "On", exact: true }).isChecked()).toBe(true);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await field.getAttribute("aria-describedby")).toMatch(/^expiresAt-fault /);
      expect(await page.locator("#expiresAt-fault").textContent()).toBe("Choose a time in the future.");
      await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("expires-at");
      expect((await recordOf(image)).name).toBe("before");
    });
  });

  test("deletes only when that is confirmed, and then says that it did", async () => {
    const image = await mine();
    await withPage({ javaScriptEnabled }, async (page) => {
      await page.goto(image.editUrl);
      await page.getByRole("button", { name: "Delete image" }).click();
      expect(page.url()).toBe(image.editUrl);
      await page.getByLabel("Yes, delete this image").check();
      await page.getByRole("button", { name: "Delete image" }).click();
      await page.waitForURL(javaScriptEnabled ? `${image.url}/view` : `${image.url}/view?done=delete`);
      expect(await page.getByRole("heading").textContent()).toBe("Image deleted");
      expect(await page.locator("main").textContent()).toContain("Its links no longer work.");
      expect(await page.getByRole("main").getByRole("link", { name: "Upload an image" }).count()).toBe(1);
    });
  });

  test("asks for the PIN again when it is wrong, and goes on with the right one", async () => {
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
      await saved(page);
      await page.locator(".notice").waitFor();
      await page.getByRole("link", { name: "View the image" }).click();
      await page.waitForURL(/\/view$/);
      expect(await page.evaluate(() => document.referrer)).toBe("");
      expect(await page.content()).not.toContain(image.pin);
      expect(sent.filter((text) => text.includes(image.pin))).toEqual([]);
    });
  });
});

test("after Save the address has neither PIN nor result, and a reload opens the form again without a notice", async () => {
  const image = await upload(site, photo, "image/jpeg");
  await withPage({}, async (page) => {
    await page.goto(image.editUrl);
    expect(page.url()).toBe(image.editUrl);
    await page.getByLabel("Name").fill("after");
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.waitForURL(`${image.url}/edit`);
    expect(await page.locator(".notice").textContent()).toBe("Name updated.");
    for (let reloads = 0; reloads < 2; reloads++) {
      await page.reload();
      await page.getByRole("button", { name: "Save changes" }).waitFor();
      await page.waitForURL(`${image.url}/edit`);
      expect(await page.locator(".notice").count()).toBe(0);
    }
  });
  await withPage({}, async (page) => {
    await page.goto(`${image.url}/edit`);
    await page.getByLabel("PIN").waitFor();
    expect(page.url()).toBe(`${image.url}/edit`);
  });
});

test("a change and a deletion reach the saved list of the browser that uploaded the image", async () => {
  const image = await upload(site, photo, "image/jpeg", { name: "before" });
  const other = { ...image, id: "A".repeat(22), url: `${site.base}/${"A".repeat(22)}` };
  await withPage({}, async (page) => {
    const list = () => readList(page, site);
    await page.goto(`${image.url}/view`);
    await page.evaluate(
      ([key, saved]) => localStorage.setItem(key ?? "", saved ?? ""),
      [`outrigger uploads ${site.base}`, JSON.stringify([image, other])],
    );
    // The list has the PIN.
    await page.goto(`${image.url}/edit`);
    await page.getByLabel("Name").fill("after");
    await page.getByLabel("Time from now").selectOption({ label: "30 days" });
    await page.getByRole("button", { name: "Save changes" }).click();
    await page.locator(".notice").waitFor();
    const response = await fetch(`${site.base}/api/images/${image.id}.json`);
    const { name, expiresAt } = (await response.json()) as Record<string, string>;
    expect(name).toBe("after");
    await expect.poll(async () => (await list())[0]).toMatchObject({ name, expiresAt, pin: image.pin });

    await page.getByLabel("Yes, delete this image").check();
    await page.getByRole("button", { name: "Delete image" }).click();
    await page.waitForURL(`${image.url}/view`);
    await expect.poll(async () => (await list()).map(({ id }) => id)).toEqual([other.id]);
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
  await withSite({ publicUrl }, async (site) => {
    target = site.origin;
    const image = await upload(site, photo, "image/jpeg");
    expect(image.editUrl.startsWith(publicUrl)).toBe(true);
    await withPage({}, async (page) => {
      const complaints = complaintsOf(page);
      await page.goto(image.editUrl.replace("localhost", "127.0.0.1"));
      await page.locator("#expires-hint output").waitFor({ state: "attached" });
      await page.getByLabel("Name").fill("after");
      await page.getByRole("button", { name: "Save changes" }).click();
      await page.waitForURL(/localhost.*\/edit$/);
      expect(complaints).toEqual([]);
    });
  });
  await close();
});
