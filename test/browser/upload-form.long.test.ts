import { brotliCompressSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { axeFaults } from "../support/axe-faults.ts";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { addressOf, upload, withSite } from "../support/service.ts";
import { shareUploadPage } from "./upload-page.ts";

const WITHOUT = { javaScriptEnabled: false };

const shared = shareUploadPage();

/** Chooses a file whose name does not tell its type. */
const choose = (page: Page, buffer = shared.photo) =>
  page.getByLabel("Image").setInputFiles({ name: "boat.webp", mimeType: "image/webp", buffer });
const send = (page: Page) => page.getByRole("button", { name: "Upload" }).click();

test("without JavaScript, the upload page uploads a file, shows its links, and the edit link deletes it", async () => {
  await withPage(WITHOUT, async (page) => {
    const complaints = complaintsOf(page);
    await page.goto(`${shared.site.base}/`);
    await choose(page);
    await page.getByLabel("Name").fill("My boat");
    await page.getByLabel("Description").fill("A boat at dusk.");
    await page.getByLabel("Delete after").selectOption({ label: "7 days" });
    await send(page);
    await page.getByRole("heading", { name: "My boat" }).waitFor();
    expect(await overflowsOf(page)).toEqual([]);
    const link = await page.getByLabel("Link", { exact: true }).inputValue();
    const [, id = ""] = /\/([\w-]{22})\/view$/.exec(link) ?? [];
    const record = await (await fetch(addressOf(shared.site, id, "json"))).json();
    expect(record).toMatchObject({ name: "My boat", description: "A boat at dusk.", type: "image/jpeg" });
    expect(Math.round((Date.parse(record.expiresAt) - Date.now()) / 86_400_000)).toBe(7);
    expect(await page.locator("time").getAttribute("datetime")).toBe(record.expiresAt);
    expect(await page.locator("code").textContent()).toMatch(/^\w{16}$/);

    await page.goto(await page.getByLabel("Edit link").inputValue());
    await page.getByRole("checkbox").check();
    await page.getByRole("button", { name: "Delete image" }).click();
    await page.getByRole("heading", { name: "Image deleted" }).waitFor();
    expect((await fetch(addressOf(shared.site, id, "json"))).status).toBe(410);
    expect(complaints.filter((text) => !text.includes("410"))).toEqual([]);
  });
});

test("the upload form appears and uploads when the script of the page cannot be loaded", async () => {
  await withPage({}, async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto(`${shared.site.base}/`);
    await choose(page);
    await send(page);
    await page.getByRole("heading", { name: "boat.webp" }).waitFor();
  });
});

test("the upload page keeps a file that was chosen before the script came", async () => {
  await withPage({}, async (page) => {
    let release = () => undefined as unknown;
    const late = new Promise((resolve) => {
      release = () => resolve(undefined);
    });
    await page.route("**/assets/*.js", async (route) => {
      await late;
      await route.continue();
    });
    await page.goto(`${shared.site.base}/`, { waitUntil: "commit" });
    await page.getByRole("button", { name: "Upload" }).waitFor();
    await choose(page);
    await page.getByLabel("Name").fill("My boat");
    release();
    await page.getByRole("button", { name: "Copy link to My boat" }).waitFor();
  });
});

test("without JavaScript, the upload page shows a refusal beside the form, keeps what was typed, and takes the next file", async () => {
  await withSite({ maxUploadBytes: 1024 * 1024 }, async (site) => {
    await withPage(WITHOUT, async (page) => {
      await page.goto(`${site.base}/`);
      await choose(page, Buffer.alloc(5_000_000));
      await send(page);
      await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/too large. The limit is 1 MB/);
      await choose(page, Buffer.from("text"));
      await page.getByLabel("Name").fill("My boat");
      await page.getByLabel("Delete after").selectOption({ label: "1 hour" });
      await send(page);
      await expect.poll(() => page.getByRole("alert").textContent()).toMatch(/can’t be read as an image/);
      expect(await page.getByLabel("Name").inputValue()).toBe("My boat");
      expect(await page.getByLabel("Delete after").inputValue()).toBe("3600000");
      expect(await overflowsOf(page)).toEqual([]);
      await choose(page);
      await send(page);
      await page.getByRole("heading", { name: "My boat" }).waitFor();
    });
  });
});

test("without JavaScript, the upload page has no form where the host takes a key in a header, and names the command instead", async () => {
  const authorize = ({ headers }: { headers: Record<string, unknown> }) => headers["x-key"] === "k";
  await withSite({ authorize }, async (site) => {
    await withPage(WITHOUT, async (page) => {
      await page.goto(`${site.base}/`);
      expect(await page.locator("#upload .alarm").textContent()).toBe(
        "Turn on JavaScript and reload to upload here, or run this command:",
      );
      expect(await page.locator("form").count()).toBe(0);
    });
  });
});

test("the upload form has no serious accessibility fault, before and after an upload", async () => {
  const sent = async (bytes: Buffer) => {
    const form = new FormData();
    form.set("imagedata", new Blob([new Uint8Array(bytes)]), "boat.jpg");
    const headers = { Accept: "text/html" };
    return (await fetch(`${shared.site.base}/`, { method: "POST", body: form, headers })).text();
  };
  const front = await (await fetch(`${shared.site.base}/`)).text();
  // axe-core needs JavaScript, with which a browser would leave out the form.
  await withPage({}, async (page) => {
    for (const html of [front, await sent(Buffer.from("text")), await sent(shared.photo)]) {
      await page.setContent(html.replaceAll(/<script[^>]*><\/script>/g, ""));
      await expect
        .poll(() => page.getByRole("button", { name: "Upload" }).count())
        .toBe(html.includes("<form") ? 1 : 0);
      expect(await axeFaults(page)).toEqual([]);
    }
  });
});

/** Bytes of a page and of all that it loads but pictures, as they travel compressed. */
async function weightOf(address: string): Promise<number> {
  return withPage({}, async (page) => {
    const loaded = new Map<string, string>();
    page.on("response", (response) => {
      const type = response.request().resourceType();
      if (type !== "image") loaded.set(response.url(), type);
    });
    await page.goto(address, { waitUntil: "networkidle" });
    let bytes = 0;
    for (const [url, type] of loaded) {
      const response = await fetch(url, { headers: { Accept: "text/html,*/*", "Accept-Encoding": "br" } });
      const body = Buffer.from(await response.arrayBuffer());
      // A page itself is compressed by the host, where it is.
      const isCompressed = response.headers.get("content-encoding") === "br";
      expect([type, isCompressed]).toEqual([type, type !== "document"]);
      bytes += isCompressed
        ? Number(response.headers.get("content-length"))
        : brotliCompressSync(body).length;
    }
    return bytes;
  });
}

test("the viewer weighs at most 10 kB, script and styles included", async () => {
  const { url } = await upload(shared.site, numberedPdf(5), "application/pdf", { name: "Report" });
  const bytes = await weightOf(`${url}/view?page=2`);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThanOrEqual(10_000);
});

test("the upload page weighs at most 40 kB, script and styles included", async () => {
  const bytes = await weightOf(`${shared.site.base}/`);
  expect(bytes).toBeGreaterThan(2_000);
  expect(bytes).toBeLessThanOrEqual(40_000);
});
