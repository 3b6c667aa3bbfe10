import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { launchChromium } from "../../support/chromium.ts";
import { listen } from "../../support/listen.ts";
import { BOX, type Rgba, readRgba } from "../picture.ts";
import type { Sample } from "../samples/sample.ts";

/** Images that the page loads at once. */
const AT_ONCE = 4;
/** An image that loads for longer counts as not shown. */
const PATIENCE_MS = 60_000;

/**
 * Draws samples as Chromium shows them in an `<img>`, at most {@link BOX} pixels long; only vectors are enlarged. `null`:
 * Chromium does not show the sample.
 */
export async function drawInChromium(samples: readonly Sample[]): Promise<Map<string, Rgba | null>> {
  const drawn = new Map<string, Rgba | null>();
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
    const sample = samples[Number(pathname.slice(1))];
    if (sample === undefined) return response.setHeader("content-type", "text/html").end("<!doctype html>");
    if (request.method === "GET") return response.setHeader("content-type", sample.type).end(sample.bytes);
    const data = await buffer(request);
    const [width, height] = [Number(searchParams.get("width")), Number(searchParams.get("height"))];
    drawn.set(sample.name, width > 0 ? { width, height, data } : null);
    return response.end();
  });
  const { origin, close } = await listen(server);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${origin}/page`);
    const vectors = samples.map(({ type }) => type === "image/svg+xml");
    const unread = await page.evaluate(drawAll, {
      vectors,
      box: BOX,
      atOnce: AT_ONCE,
      patienceMs: PATIENCE_MS,
    });
    for (const index of unread) drawn.set(samples[index]?.name ?? "", await photograph(page, index));
  } finally {
    await browser.close();
    await close();
  }
  return drawn;
}

/** For an image whose pixels scripts must not read: an SVG with a `foreignObject`. */
async function photograph(page: Page, index: number): Promise<Rgba> {
  const fitting = `position:fixed;left:0;top:0;width:${BOX}px;height:${BOX}px;object-fit:contain;object-position:0 0`;
  await page.setContent(`<!doctype html><img id="image" style="${fitting}" src="/${index}">`);
  const { width, height } = await page.evaluate(async () => {
    const image = document.querySelector("img") as HTMLImageElement;
    await image.decode();
    return { width: image.naturalWidth, height: image.naturalHeight };
  });
  const scale = BOX / Math.max(width, height);
  const clip = { x: 0, y: 0, width: Math.round(width * scale), height: Math.round(height * scale) };
  return readRgba(await page.screenshot({ clip, omitBackground: true }));
}

/** Runs in the page. Resolves to the numbers of images whose pixels it may not read. */
async function drawAll(options: {
  vectors: readonly boolean[];
  box: number;
  atOnce: number;
  patienceMs: number;
}): Promise<number[]> {
  const { vectors, box, atOnce, patienceMs } = options;
  const unread: number[] = [];
  let next = 0;
  const load = (image: HTMLImageElement, address: string) =>
    new Promise<boolean>((resolve) => {
      image.onload = () => resolve(image.naturalWidth > 0);
      image.onerror = () => resolve(false);
      setTimeout(() => resolve(false), patienceMs);
      image.src = address;
    });
  const draw = async (index: number) => {
    const image = new Image();
    if (!(await load(image, `/${index}`))) {
      await fetch(`/${index}`, { method: "POST" });
      return;
    }
    const scale = box / Math.max(image.naturalWidth, image.naturalHeight);
    const used = vectors[index] ? scale : Math.min(1, scale);
    const width = Math.max(1, Math.round(image.naturalWidth * used));
    const height = Math.max(1, Math.round(image.naturalHeight * used));
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (context === null) throw new Error("There is no canvas");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    try {
      const body = context.getImageData(0, 0, width, height).data;
      await fetch(`/${index}?width=${width}&height=${height}`, { method: "POST", body });
    } catch (error) {
      if (!(error instanceof DOMException && error.name === "SecurityError")) throw error;
      unread.push(index);
    }
  };
  const work = async () => {
    while (next < vectors.length) await draw(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return unread;
}
