import type { Browser } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launchChromium } from "../support/chromium.ts";
import { jpegPhoto } from "../support/pictures.ts";
import { type Site, startSite } from "../support/service.ts";
import { type ChosenFile, choose, entryOf, linkOf, onUploadPage, recordAt } from "./upload-page.ts";

describe("pictures that the service does not store, on the upload page", { timeout: 60_000 }, () => {
  let site: Site;
  let browser: Browser;

  beforeAll(async () => {
    [site, browser] = await Promise.all([startSite(), launchChromium()]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
  });

  const opaque = () => sharp({ create: { width: 60, height: 40, channels: 3, background: "#c04020" } });
  const clear = () =>
    sharp({
      create: { width: 60, height: 40, channels: 4, background: { r: 192, g: 64, b: 32, alpha: 0.5 } },
    });
  const file = (name: string, mimeType: string, buffer: Buffer): ChosenFile => ({ name, mimeType, buffer });

  /** Uploads a file, and returns what its card says and what the service stored. */
  async function uploaded(chosen: ChosenFile, storedName: string) {
    let result = { card: "", record: {} as Awaited<ReturnType<typeof recordAt>> };
    await onUploadPage(browser, site, async (page) => {
      await choose(page, chosen);
      const entry = page.locator(".entry");
      await entry.getByRole("button", { name: "Copy link" }).waitFor();
      expect(await entry.getByLabel("Name").inputValue()).toBe(storedName);
      result = { card: String(await entry.textContent()), record: await recordAt(site, await linkOf(entry)) };
    });
    return result;
  }

  test("an opaque WebP is converted to JPEG, with a note on its card", async () => {
    const { card, record } = await uploaded(
      file("sea.webp", "image/webp", await opaque().webp().toBuffer()),
      "sea.jpg",
    );
    expect(record).toMatchObject({ name: "sea.jpg", type: "image/jpeg", width: 60, height: 40 });
    expect(card).toContain("Converted from WebP");
    expect(card).not.toContain("first picture");
    const response = await fetch(`${site.base}/${record.id}`);
    const { dominant } = await sharp(Buffer.from(await response.arrayBuffer())).stats();
    expect(dominant.r).toBeGreaterThan(180);
    expect(dominant.g).toBeLessThan(80);
  });

  test("a WebP or AVIF with transparency is converted to PNG and stays transparent", async () => {
    for (const [name, type, bytes] of [
      ["glass.webp", "image/webp", await clear().webp().toBuffer()],
      ["glass.avif", "image/avif", await clear().avif().toBuffer()],
    ] as const) {
      const { record } = await uploaded(file(name, type, bytes), "glass.png");
      expect(record).toMatchObject({ type: "image/png", width: 60, height: 40 });
      const response = await fetch(`${site.base}/${record.id}`);
      expect((await sharp(Buffer.from(await response.arrayBuffer())).stats()).isOpaque).toBe(false);
    }
  });

  test("a lossless WebP and a BMP are converted to PNG", async () => {
    const lossless = await opaque().webp({ lossless: true }).toBuffer();
    const webp = await uploaded(file("plan.webp", "image/webp", lossless), "plan.png");
    expect(webp.record).toMatchObject({ type: "image/png", width: 60 });
    const bmp = await uploaded(file("scan.bmp", "image/bmp", bitmap(5, 3)), "scan.png");
    expect(bmp.record).toMatchObject({ type: "image/png", width: 5, height: 3 });
    expect(bmp.card).toContain("Converted from BMP");
  });

  test("the bytes decide: a WebP named photo.png is converted, and a JPEG named photo.webp is sent as it is", async () => {
    const webp = await opaque().webp().toBuffer();
    const { card } = await uploaded(file("photo.png", "image/png", webp), "photo.jpg");
    expect(card).toContain("Converted from WebP");
    const jpeg = await jpegPhoto(30, 20);
    const sent = await uploaded(file("photo.webp", "image/webp", jpeg), "photo.webp");
    expect(sent.card).not.toContain("Converted");
    expect(sent.card).toContain("JPEG");
    expect(sent.record).toMatchObject({ type: "image/jpeg", size: jpeg.length });
  });

  test("an animated WebP says that only its first picture is kept", async () => {
    const frames = Buffer.concat([await opaque().raw().toBuffer(), await opaque().negate().raw().toBuffer()]);
    const raw = { width: 60, height: 80, channels: 3 as const, pageHeight: 40 };
    const animated = await sharp(frames, { raw })
      .webp({ loop: 0, delay: [100, 100] })
      .toBuffer();
    const { card, record } = await uploaded(file("wave.webp", "image/webp", animated), "wave.jpg");
    expect(card).toContain("Only the first picture is kept");
    expect(record).toMatchObject({ width: 60, height: 40 });
  });

  test("a HEIC file is refused with the way to get a JPEG, and a damaged WebP with advice", async () => {
    await onUploadPage(browser, site, async (page) => {
      const heic = Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic", "latin1");
      const damaged = (await opaque().webp().toBuffer()).subarray(0, 40);
      await choose(
        page,
        file("a.heic", "image/heic", heic),
        file("b.webp", "image/webp", damaged),
        file("c.webp", "image/webp", await opaque().webp().toBuffer()),
      );
      await page
        .locator(".trouble", { hasText: "This browser can’t read HEIC. On an iPhone, choose Settings" })
        .waitFor();
      await page.locator(".trouble", { hasText: "This browser can’t convert this WebP file." }).waitFor();
      await entryOf(page, "c.jpg").getByRole("button", { name: "Copy link" }).waitFor();
    });
  });

  test("a picture of more than 64 megapixels is refused before its pixels are decoded", async () => {
    await onUploadPage(browser, site, async (page) => {
      const large = sharp({ create: { width: 8100, height: 8100, channels: 3, background: "#fff" } });
      await choose(page, file("wall.webp", "image/webp", await large.webp({ effort: 0 }).toBuffer()));
      await page
        .locator(".trouble", { hasText: "This picture is too large to convert (8100 × 8100)." })
        .waitFor();
    });
  });

  test("a touch screen has a button for the camera, and a screen with a mouse does not", async () => {
    await onUploadPage(
      browser,
      site,
      async (page) => {
        const camera = page.getByLabel("Take a photo");
        expect(await page.getByText("Take a photo").isVisible()).toBe(true);
        expect(await camera.getAttribute("capture")).toBe("environment");
        await camera.setInputFiles(file("shot.jpg", "image/jpeg", await jpegPhoto(30, 20)));
        await entryOf(page, "shot.jpg").getByRole("button", { name: "Copy link" }).waitFor();
        expect(await page.getByText("Take a photo").isVisible()).toBe(true);
      },
      { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } },
    );
    await onUploadPage(browser, site, async (page) => {
      expect(await page.getByText("Take a photo").isVisible()).toBe(false);
    });
  });
});

/** An uncompressed bitmap of 24 bits per pixel, all blue. */
function bitmap(width: number, height: number): Buffer {
  const row = Math.ceil((width * 3) / 4) * 4;
  const bytes = Buffer.alloc(54 + row * height, 0xff);
  bytes.fill(0, 0, 54);
  bytes.write("BM", 0, "latin1");
  bytes.writeUInt32LE(bytes.length, 2);
  bytes.writeUInt32LE(54, 10);
  bytes.writeUInt32LE(40, 14);
  bytes.writeInt32LE(width, 18);
  bytes.writeInt32LE(height, 22);
  bytes.writeUInt16LE(1, 26);
  bytes.writeUInt16LE(24, 28);
  return bytes;
}
