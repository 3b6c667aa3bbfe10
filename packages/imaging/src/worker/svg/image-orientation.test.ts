import sharp from "sharp";
import { expect, test } from "vitest";
import { cleanSvg } from "./clean-svg.ts";
import { openSvg } from "./open-svg.ts";

const limits = { maxPixels: 1_000_000, maxFrames: 60, maxSide: 8192, maxOutputPixels: 1_000_000 };

test("only the pictures of image-orientation none keep their EXIF orientation", async () => {
  const raster = sharp({ create: { width: 40, height: 20, channels: 3, background: "#00f" } });
  const red = { create: { width: 20, height: 20, channels: 3, background: "#f00" } } as const;
  const bytes = await raster
    .composite([{ input: red, left: 0, top: 0 }])
    .withMetadata({ orientation: 3 })
    .png()
    .toBuffer();
  const image = (y: number, style = "") =>
    `<image y="${y}" width="40" height="20" ${style} href="data:image/png;base64,${bytes.toString("base64")}"/>`;
  const none = 'style="image-orientation:none"';
  const size = 'width="40" height="40"';
  for (const [attributes, content, isTurned] of [
    [size, image(0) + image(20, none), [true, false]],
    [size, image(0, none) + image(20), [false, true]],
    [`${size} ${none}`, image(0) + image(20), [false, false]],
    [size, `<g ${none}>${image(0)}${image(20)}</g>`, [false, false]],
    [size, `<style>image{image-orientation:none}</style>${image(0)}${image(20)}`, [false, false]],
  ] as const) {
    const document = `<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>${content}</svg>`;
    const drawing = await (await openSvg(cleanSvg(Buffer.from(document)), limits)).decode();
    const data = await drawing.ensureAlpha().raw().toBuffer();
    expect(
      [10, 30].map((y) => (data[(y * 40 + 5) * 4] ?? 0) < 100),
      content.slice(0, 60),
    ).toEqual(isTurned);
  }
});
