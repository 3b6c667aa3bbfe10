import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createRecordingObserver } from "../packages/core/test/recording-observer.ts";
import { newContext } from "./support/chromium.ts";
import { serveHost } from "./support/listen.ts";
import { pngPhoto } from "./support/pictures.ts";
import { addressOf, type Site, startSite, upload } from "./support/service.ts";

interface Shop {
  origin: string;
  close(): Promise<void>;
}

/** A site whose pages are empty. */
function startShop(): Promise<Shop> {
  return serveHost((_req, res) => {
    res.setHeader("Content-Type", "text/html");
    res.end("<!doctype html><title>shop</title>");
  });
}

let context: BrowserContext;
let listed: Shop;
let unlisted: Shop;
let site: Site;
let bytes: number[];

beforeAll(async () => {
  [context, listed, unlisted] = await Promise.all([newContext(), startShop(), startShop()]);
  site = await startSite({ cors: { origins: [listed.origin] } });
  bytes = [...(await pngPhoto(40, 30))];
});
afterAll(async () => {
  await context.close();
  for (const each of [site, listed, unlisted]) await each.close();
});

async function pageOf(shop: Shop): Promise<Page> {
  const page = await context.newPage();
  await page.goto(shop.origin);
  return page;
}

/** What a script in the page gets to see of a request: its reply, or that there is none. */
function fetchIn(page: Page, url: string, options: RequestInit = {}) {
  return page.evaluate(
    async ([address, init]) => {
      try {
        const response = await fetch(address, init);
        return { status: response.status, headers: Object.fromEntries(response.headers), error: null };
      } catch (error) {
        return { status: 0, headers: {} as Record<string, string>, error: String(error) };
      }
    },
    [url, options] as const,
  );
}

/** Uploads the picture by a script in the page. */
function uploadIn(page: Page, credentials: RequestCredentials = "same-origin", { base } = site) {
  return page.evaluate(
    async ([url, picture, mode]) => {
      const form = new FormData();
      form.set("imagedata", new Blob([new Uint8Array(picture)], { type: "image/png" }), "shop.png");
      try {
        const response = await fetch(url, { method: "POST", body: form, credentials: mode });
        const headers = Object.fromEntries(response.headers);
        return { status: response.status, headers, body: await response.json(), error: null };
      } catch (error) {
        return { status: 0, headers: {} as Record<string, string>, body: null, error: String(error) };
      }
    },
    [`${base}/api/images.json`, bytes, credentials] as const,
  );
}

test("a page of a listed origin can upload, read the PIN, edit, read ranges and delete", async () => {
  const page = await pageOf(listed);
  const created = await uploadIn(page);
  expect(created).toMatchObject({ status: 201, error: null });
  const pin = created.headers["x-service-image-pin"] ?? "";
  const id = created.headers["x-service-image-id"] ?? "";
  expect(pin).toMatch(/^[0-9A-Z]{16}$/i);
  expect(created.headers.location).toBe(`${site.base}/${id}`);
  expect(created.headers.link).toContain("edit-form");

  const record = addressOf(site, id, "json");
  const change = { "Content-Type": "application/json", "X-Service-Image-Pin": pin };
  const body = JSON.stringify({ name: "renamed.png" });
  const changed = await fetchIn(page, record, { method: "PATCH", headers: change, body });
  expect(changed).toMatchObject({ status: 200, error: null });
  expect(changed.headers.etag).toBeTruthy();
  const late = { ...change, "If-Match": '"another"' };
  expect(await fetchIn(page, record, { method: "PATCH", headers: late, body })).toMatchObject({
    status: 412,
  });

  const headers = { Range: "bytes=0-7" };
  const part = await fetchIn(page, addressOf(site, id, "png"), { headers });
  expect(part.status).toBe(206);
  expect(part.headers["content-range"]).toMatch(/^bytes 0-7\//);
  expect(part.headers["content-disposition"]).toContain("renamed.png");

  const pinned = { "X-Service-Image-Pin": pin };
  expect(await fetchIn(page, record, { method: "DELETE", headers: pinned })).toMatchObject({ status: 204 });
  expect(await fetchIn(page, record)).toMatchObject({ status: 410, error: null });
  await page.close();
});

test("a page of another origin reads nothing and changes nothing", async () => {
  const { id, pin } = await upload(site, Buffer.from(bytes), "image/png", { fileName: "mine.png" });
  const page = await pageOf(unlisted);
  expect(await uploadIn(page)).toMatchObject({ status: 0, error: expect.stringContaining("TypeError") });
  const record = addressOf(site, id, "json");
  expect((await fetchIn(page, record)).status).toBe(0);
  for (const method of ["PATCH", "DELETE"]) {
    const headers = { "Content-Type": "application/json", "X-Service-Image-Pin": pin };
    const init = { method, headers, body: JSON.stringify({ name: "theirs.png" }) };
    expect((await fetchIn(page, record, init)).status).toBe(0);
  }
  expect(await (await fetch(record)).json()).toMatchObject({ name: "mine.png" });
  await page.close();
});

test("a page of another origin cannot read responses that the browser cached for a listed origin", async () => {
  const { id } = await upload(site, Buffer.from(bytes), "image/png");
  const picture = addressOf(site, id, "png");
  for (const [shop, status] of [
    [listed, 200],
    [unlisted, 0],
    [listed, 200],
  ] as const) {
    const page = await pageOf(shop);
    expect((await fetchIn(page, picture)).status).toBe(status);
    await page.close();
  }
});
test("pages of every origin can show a picture", async () => {
  const { id } = await upload(site, Buffer.from(bytes), "image/png");
  const page = await pageOf(unlisted);
  const width = await page.evaluate(
    async (url) => {
      const picture = new Image();
      picture.src = url;
      await picture.decode();
      return picture.naturalWidth;
    },
    addressOf(site, id, "png"),
  );
  expect(width).toBe(40);
  await page.close();
});

test("where authorize decides, only pages of the service and of listed origins can make the browser upload", async () => {
  const authorize = () => ({ owner: "anna" });
  const observer = createRecordingObserver();
  const own = await startSite({ authorize, observer, cors: { origins: [listed.origin], credentials: true } });
  const stored = async () => {
    let count = 0;
    for await (const _image of own.images.list()) count++;
    return count;
  };
  /**
   * Sends a form to the site without CORS, as a page of any origin may, and returns the status of the reply, which the
   * browser may withhold.
   */
  const submitIn = async (origin: string) => {
    const page = await context.newPage();
    await page.goto(origin);
    await page.evaluate(
      async ([url, picture]) => {
        const body = new FormData();
        body.append("imagedata", new Blob([Uint8Array.from(picture)], { type: "image/png" }), "forged.png");
        await fetch(url, { method: "POST", mode: "no-cors", credentials: "include", body }).catch(() => {});
      },
      [`${own.base}/api/images.json`, [...bytes]] as const,
    );
    await page.close();
    return observer.ended.findLast(({ operation }) => operation.kind === "request")?.outcome;
  };
  try {
    // Another port is another origin of the same site; another name is another site.
    expect(await submitIn(unlisted.origin)).toBe("403");
    expect(await submitIn(unlisted.origin.replace("127.0.0.1", "localhost"))).toBe("403");
    expect(await stored()).toBe(0);
    expect(await submitIn(listed.origin)).toBe("201");
    const page = await context.newPage();
    await page.goto(own.base);
    const mine = await uploadIn(page, "include", own);
    expect([mine.status, await stored()]).toEqual([201, 2]);

    await page.goto(`${mine.headers.location}/edit`);
    await page.getByLabel("Name").fill("renamed.png");
    await page.keyboard.press("Enter");
    await page.waitForURL(/[?&]done=name/);
    expect(observer.ended.map(({ outcome }) => outcome)).toContain("303");
    await page.close();
  } finally {
    await own.close();
  }
});
