import { brotliCompressSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { complaintsOf, overflowsOf, withPage } from "../support/chromium.ts";
import { numberedPdf } from "../support/numbered-pdf.ts";
import { withSite } from "../support/quick-site.ts";
import { addressOf, upload } from "../support/service.ts";
import { hold, shareUploadPage } from "./upload-page.ts";

const shared = shareUploadPage({ maxUploadBytes: 1024 * 1024, maxLifetimeMs: null });

/** Chooses a file whose name does not tell its type. */
const choose = (page: Page, buffer = shared.photo) =>
  page.getByLabel("Image").setInputFiles({ name: "boat.webp", mimeType: "image/webp", buffer });
const send = (page: Page) => page.getByRole("button", { name: "Upload" }).click();

test("without JavaScript, the form keeps what was typed beside a refusal, stores the next file, and its edit link deletes the image", async () => {
  await withPage({ javaScriptEnabled: false }, async (page) => {
    const complaints = complaintsOf(page);
    const alert = () => page.getByRole("alert").textContent();
    await page.goto(`${shared.site.base}/`);
    await choose(page, Buffer.alloc(1_200_000));
    await send(page);
    await expect.poll(alert).toMatch(/too large. The limit is 1 MB/);
    await choose(page, Buffer.from("text"));
    await page.getByLabel("Name").fill("My boat");
    await page.getByLabel("Description").fill("A boat at dusk.");
    await page.getByLabel("Delete after").selectOption("7 days");
    await send(page);
    await expect.poll(alert).toMatch(/can’t be read as an image/);
    expect(await overflowsOf(page)).toEqual([]);
    await choose(page);
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

    await page.goto(`${shared.site.base}/`);
    await choose(page);
    await page.getByLabel("Delete after").selectOption("Never");
    await send(page);
    await page.getByText("Never expires").waitFor();
    expect(complaints.filter((text) => !/status of 4(10|13|15)/.test(text))).toEqual([]);
  });
});

test("the form uploads when the script cannot be loaded, and a file chosen before it came is kept", async () => {
  await withPage({}, async (page) => {
    await page.route("**/assets/*.js", (route) => route.abort());
    await page.goto(`${shared.site.base}/`);
    await choose(page);
    await send(page);
    await page.getByRole("heading", { name: "boat.webp" }).waitFor();
    await page.unrouteAll();

    const letGo = await hold(page, "**/assets/*.js");
    await page.goto(`${shared.site.base}/`, { waitUntil: "commit" });
    await page.getByRole("button", { name: "Upload" }).waitFor();
    await choose(page);
    await page.getByLabel("Name").fill("My boat");
    letGo();
    await page.getByRole("button", { name: "Copy link to My boat" }).waitFor();
  });
});

test("the upload page describes itself, also to link previews, and names another way where the host takes a key in a header", async () => {
  const html = await (await fetch(`${shared.site.base}/`)).text();
  const content = (name: string) =>
    new RegExp(`<meta (?:name|property)="${name}" content="([^"]+)">`).exec(html)?.[1];
  expect(content("description")).toMatch(/^[A-Z].{30,150}\.$/);
  expect(content("og:description")).toBe(content("description"));
  expect(content("og:title")).toBe(/<title>([^<]+)<\/title>/.exec(html)?.[1]?.replace(/ [–·|-] .*/, ""));
  expect([content("og:type"), content("og:site_name")]).toEqual(["website", expect.stringMatching(/\w/)]);
  expect(html).toContain(`<a href="${shared.site.base}/api/openapi.json">`);
  expect(html).toContain(`<a href="${shared.site.base}/sharex.sxcu">`);
  const authorize = ({ headers }: { headers: Record<string, unknown> }) => headers["x-key"] === "k";
  await withSite({ authorize }, async ({ base }) => {
    const closed = await (await fetch(`${base}/`)).text();
    expect(closed).toContain("Turn on JavaScript and reload to upload here, or run this command:");
    expect(closed).not.toContain("<form");
  });
});

test("with script and styles, the viewer weighs at most 10 kB and the upload page at most 40 kB, compressed", async () => {
  const { url } = await upload(shared.site, numberedPdf(5), "application/pdf", { name: "Report" });
  for (const [address, most] of [
    [`${url}/view`, 10_000],
    [`${shared.site.base}/`, 40_000],
  ] as const) {
    const bytes = await weightOf(address);
    expect(bytes).toBeGreaterThan(2_000);
    expect(bytes).toBeLessThanOrEqual(most);
  }
});

/** Bytes of a page and of all that it loads but pictures, as they travel compressed. */
async function weightOf(address: string): Promise<number> {
  const loaded = new Map<string, string>();
  await withPage({}, async (page) => {
    page.on("response", (response) => {
      const type = response.request().resourceType();
      if (type !== "image") loaded.set(response.url(), type);
    });
    await page.goto(address, { waitUntil: "networkidle" });
  });
  let bytes = 0;
  for (const [url, type] of loaded) {
    const response = await fetch(url, { headers: { Accept: "text/html,*/*", "Accept-Encoding": "br" } });
    const body = Buffer.from(await response.arrayBuffer());
    // A page itself is compressed by the host, where it is.
    const isCompressed = response.headers.get("content-encoding") === "br";
    expect([type, isCompressed]).toEqual([type, type !== "document"]);
    const length = response.headers.get("content-length");
    bytes += isCompressed ? Number(length) : brotliCompressSync(body).length;
  }
  return bytes;
}
