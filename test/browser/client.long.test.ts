import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import type { createImagesClient, ImagesClient, UploadProgress } from "@outrigger/client";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Front, startFront } from "../client/front.ts";
import { newContext } from "../support/chromium.ts";
import { serveHost } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";

/** What the pages of this test have in their window. */
interface Shop {
  images: ImagesClient;
  createImagesClient: typeof createImagesClient;
  photo: File;
}

const DIST = fileURLToPath(new URL(".", import.meta.resolve("@outrigger/client")));

const PAGE = `<!doctype html><title>shop</title><script type="module">
  import { createImagesClient } from "/client/index.js";
  window.createImagesClient = createImagesClient;
</script>`;

/** A site of another origin, whose page has the built package as a module. */
function startShop(photo: Buffer) {
  return serveHost(async (req, res) => {
    const [, module] = /^\/client\/([a-z-]+\.js)$/.exec(req.url ?? "") ?? [];
    const isPhoto = req.url === "/photo.jpg";
    res.setHeader(
      "Content-Type",
      module === undefined ? (isPhoto ? "image/jpeg" : "text/html") : "text/javascript",
    );
    res.end(module === undefined ? (isPhoto ? photo : PAGE) : await readFile(DIST + module));
  });
}

let site: Site;
let front: Front;
let shop: Awaited<ReturnType<typeof startShop>>;
let context: BrowserContext;
let page: Page;
let photo: Buffer;

beforeAll(async () => {
  photo = await jpegPhoto(1600, 1200);
  [shop, context] = await Promise.all([startShop(photo), newContext()]);
  site = await startSite({ cors: { origins: [shop.origin] } });
  front = await startFront(site);
});
beforeEach(async () => {
  front.requests.length = 0;
  page = await context.newPage();
  await page.goto(shop.origin);
  await page.evaluate(async (baseUrl) => {
    // The page's own script put it there.
    const { createImagesClient } = window as unknown as Shop;
    const bytes = await (await fetch("/photo.jpg")).blob();
    const photo = new File([bytes], "Bucht & »Boot«.jpg", { type: "image/jpeg" });
    Object.assign(window, { photo, images: createImagesClient({ baseUrl }) });
  }, front.base);
});
afterEach(async () => {
  await page.close();
  expect(site.errors).toEqual([]);
});
afterAll(async () => {
  await context.close();
  for (const each of [front, site, shop]) await each.close();
});

const posts = () => front.requests.filter(({ line }) => line.startsWith("POST "));

test("the built package in a page of another origin uploads with progress, reads, changes and deletes", async () => {
  const seen = await page.evaluate(async () => {
    // Put there before each test.
    const { images, photo } = window as unknown as Shop;
    const events: UploadProgress[] = [];
    const image = await images.upload(photo, { name: "Ünï", onProgress: (each) => events.push(each) });
    const bytes = await (await images.download(image.id, "jpg")).bytes();
    const record = await images.get(image.id);
    const changed = await images.edit(image.id, image.pin, { name: "Neu" }, { ifMatch: record.etag });
    await images.remove(image.id, image.pin);
    const gone = await images.get(image.id).catch((error: unknown) => error);
    const isSame = bytes.length === photo.size;
    return { events, image, changed, isSame, gone: { ...(gone as object) }, size: photo.size };
  });
  expect(seen.image).toMatchObject({ name: "Ünï", status: "ready", width: 1600 });
  expect(seen.image.agent?.name).toBe("Mozilla");
  const { totalBytes } = seen.events.at(-1) ?? { totalBytes: 0 };
  expect(totalBytes).toBeGreaterThan(seen.size);
  expect(seen.events.at(-1)).toEqual({ sentBytes: totalBytes, totalBytes });
  expect(posts()[0]?.headers["content-length"]).toBe(String(totalBytes));
  expect(seen.changed).toMatchObject({ name: "Neu" });
  expect([seen.isSame, seen.gone]).toEqual([true, expect.objectContaining({ status: 410, title: "Gone" })]);
});
test.each(["with", "without"])(
  "%s progress, an upload of the built package that is aborted ends its connection",
  async (how) => {
    let onPost = (_request: IncomingMessage) => {};
    const posted = new Promise<IncomingMessage>((resolve) => {
      onPost = resolve;
    });
    const silent = await serveHost((req, res) => {
      // Of an upload nothing more is read.
      if (req.method === "POST") return onPost(req);
      res.setHeader("Access-Control-Allow-Origin", "*");
      res.setHeader("Access-Control-Allow-Headers", "Idempotency-Key");
      res.end();
    });
    try {
      const ended = page.evaluate(
        async ([baseUrl, isListening]) => {
          const { createImagesClient } = window as unknown as Shop;
          const abort = new AbortController();
          const big = new File([new Uint8Array(30_000_000)], "big.png", { type: "image/png" });
          Object.assign(window, { abort: () => abort.abort("changed my mind") });
          const options = isListening ? { onProgress: () => {} } : {};
          const images = createImagesClient({ baseUrl });
          return images.upload(big, { ...options, signal: abort.signal }).catch((reason: unknown) => reason);
        },
        [silent.origin, how === "with"] as const,
      );
      const request = await posted;
      // Not `once`, which rejects where the half of a request is a parse error first.
      const closed = new Promise((resolve) => request.socket.on("close", resolve));
      await page.evaluate(() => (window as unknown as { abort(): void }).abort());
      expect(await ended).toBe("changed my mind");
      // What was sent is still there to be read, and then the end.
      request.resume();
      await closed;
    } finally {
      await silent.close();
    }
  },
);
