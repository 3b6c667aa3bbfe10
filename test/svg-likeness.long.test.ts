import type { Size } from "@outrigger/core/images";
import type { Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cleanSvg } from "../packages/imaging/src/worker/svg/clean-svg.ts";
import { openSvg } from "../packages/imaging/src/worker/svg/open-svg.ts";
import { openBrowser } from "./support/chromium.ts";
import { likenessSamples } from "./svg/likeness-samples.ts";

/** Greatest mean difference of two drawings that look the same, of 1. */
const SAME = 0.02;
const LONG_SIDE = 240;
const MAX_PIXELS = 100_000_000;
const limits = {
  maxPixels: MAX_PIXELS,
  maxFrames: 60,
  maxSide: 8192,
  maxOutputPixels: MAX_PIXELS,
  maxGifOutputPixels: MAX_PIXELS,
  maxWebpOutputPixels: MAX_PIXELS,
  maxAvifOutputPixels: MAX_PIXELS,
  maxAnimationOutputPixels: MAX_PIXELS,
};
const samples = Object.entries(await likenessSamples());

let browser: Awaited<ReturnType<typeof openBrowser>>;
let page: Page;

beforeAll(async () => {
  browser = await openBrowser();
  page = await browser.context.newPage();
});
afterAll(() => browser.close());

/** Chromium's drawing of an SVG in an `img`; `null` if it draws none. */
async function inChromium(svg: Buffer, { width, height }: Size): Promise<Buffer | null> {
  await page.setViewportSize({ width, height });
  await page.setContent(
    `<style>body{margin:0;background:transparent}img{display:block;width:${width}px;height:${height}px}</style><img>`,
  );
  const isDrawn = await page.evaluate(
    async (url) => {
      const image = document.querySelector("img") as HTMLImageElement;
      image.src = url;
      try {
        await image.decode();
      } catch {
        return false;
      }
      // An embedded picture is decoded for the first frame and drawn in the next.
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      return true;
    },
    `data:image/svg+xml;base64,${svg.toString("base64")}`,
  );
  return isDrawn ? page.screenshot({ omitBackground: true }) : null;
}

/** Our raster of an uploaded SVG, as long as `LONG_SIDE`. */
async function asRaster(svg: Buffer): Promise<{ image: Buffer; size: Size }> {
  const picture = await openSvg(cleanSvg(svg), limits);
  const scale = LONG_SIDE / Math.max(picture.natural.width, picture.natural.height);
  const size = {
    width: Math.round(picture.natural.width * scale),
    height: Math.round(picture.natural.height * scale),
  };
  const drawn = (await picture.decode({ drawnAs: size })).resize({ ...size, fit: "fill" });
  return { image: await drawn.png().toBuffer(), size };
}

function blank({ width, height }: Size): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 4, background: "#0000" } })
    .png()
    .toBuffer();
}

/** The mean difference of two drawings, blurred against antialiasing, on white or on black, whichever is greater. */
async function difference(one: Buffer, other: Buffer): Promise<number> {
  const differences = await Promise.all(
    ["#fff", "#000"].map(async (background) => {
      const [a, b] = await Promise.all(
        [one, other].map((image) =>
          sharp(image).ensureAlpha().flatten({ background }).removeAlpha().blur(1.2).raw().toBuffer(),
        ),
      );
      if (a === undefined || a.length !== b?.length) return 1;
      return a.reduce((sum, value, index) => sum + Math.abs(value - (b[index] ?? 0)), 0) / a.length / 255;
    }),
  );
  return Math.max(...differences);
}

test.each(samples)("%s: the raster and the cleaned SVG look as Chromium draws the upload", async (_, svg) => {
  const upload = Buffer.from(svg);
  const { image, size } = await asRaster(upload);
  const seen = await inChromium(upload, size);
  const served = await inChromium(cleanSvg(upload), size);
  if (seen === null || served === null) throw new Error("Chromium draws nothing");
  // A blank picture would prove nothing.
  expect(await difference(seen, await blank(size))).toBeGreaterThan(SAME);
  expect(await difference(seen, served)).toBeLessThan(SAME / 10);
  expect(await difference(seen, image)).toBeLessThan(SAME);
});
