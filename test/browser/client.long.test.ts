import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import type { createImagesClient, ImagesClient, UploadProgress } from "@outrigger/client";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withPage } from "../support/chromium.ts";
import { type Host, serveHost } from "../support/listen.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { startSite } from "../support/quick-site.ts";
import type { Site } from "../support/service.ts";

/** What the pages of this test have in their window. */
interface Shop {
  images: ImagesClient;
  createImagesClient: typeof createImagesClient;
  photo: File;
  abort: AbortController;
}

const DIST = fileURLToPath(new URL(".", import.meta.resolve("@outrigger/client")));

const PAGE = `<!doctype html><title>shop</title><script type="module">
  import { createImagesClient } from "/client/index.js";
  window.createImagesClient = createImagesClient;
</script>`;

/** A site of another origin, whose page has the built package as a module. */
function startShop(photo: Buffer): Promise<Host> {
  return serveHost(async (req, res) => {
    const [, module] = /^\/client\/([a-z-]+\.js)$/.exec(req.url ?? "") ?? [];
    const [type, body] =
      module !== undefined
        ? ["text/javascript", await readFile(DIST + module)]
        : req.url === "/photo.jpg"
          ? ["image/jpeg", photo]
          : ["text/html", PAGE];
    res.setHeader("Content-Type", type);
    res.end(body);
  });
}

let site: Site;
let shop: Host;

beforeAll(async () => {
  shop = await startShop(await jpegPhoto(1600, 1200));
  site = await startSite({ cors: { origins: [shop.origin] } });
});
afterAll(async () => {
  expect(site.errors).toEqual([]);
  await site.close();
  await shop.close();
});

/** Opens the shop, whose window has a client of the service and a photo. */
function onShop(use: (page: Page) => Promise<void>): Promise<void> {
  return withPage({}, async (page) => {
    await page.goto(shop.origin);
    await page.evaluate(async (baseUrl) => {
      // The page's own script put it there.
      const { createImagesClient } = window as unknown as Shop;
      const bytes = await (await fetch("/photo.jpg")).blob();
      const photo = new File([bytes], "Bucht & »Boot«.jpg", { type: "image/jpeg" });
      Object.assign(window, { photo, images: createImagesClient({ baseUrl }) });
    }, site.base);
    await use(page);
  });
}

test("the built package in a page of another origin uploads with progress, reads, changes and deletes", async () => {
  await onShop(async (page) => {
    const seen = await page.evaluate(async () => {
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
    expect(seen.changed).toMatchObject({ name: "Neu" });
    expect([seen.isSame, seen.gone]).toEqual([true, expect.objectContaining({ status: 410, title: "Gone" })]);
  });
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
    await onShop(async (page) => {
      const ended = page.evaluate(
        async ([baseUrl, isListening]) => {
          const { createImagesClient } = window as unknown as Shop;
          const abort = new AbortController();
          const big = new File([new Uint8Array(30_000_000)], "big.png", { type: "image/png" });
          Object.assign(window, { abort });
          const options = isListening ? { onProgress: () => {} } : {};
          const images = createImagesClient({ baseUrl });
          return images.upload(big, { ...options, signal: abort.signal }).catch((reason: unknown) => reason);
        },
        [silent.origin, how === "with"] as const,
      );
      const request = await posted;
      // Not `once`, which rejects where the half of a request is a parse error first.
      const closed = new Promise((resolve) => request.socket.on("close", resolve));
      await page.evaluate(() => (window as unknown as Shop).abort.abort("changed my mind"));
      expect(await ended).toBe("changed my mind");
      // What was sent is still there to be read, and then the end.
      request.resume();
      await closed;
    }).finally(() => silent.close());
  },
);
