import sharp from "sharp";
import { expect, test } from "vitest";
import { cleanSvg } from "./clean-svg.ts";
import { MAX_SVG_BYTES } from "./decode-svg-text.ts";
import { MAX_WRAPPED_BYTES, wrapRaster } from "./svg-writer.ts";

const picture = sharp({ create: { width: 7, height: 5, channels: 3, background: "#09c" } });

test.each([
  ["image/png", "png"],
  ["image/jpeg", "jpeg"],
  ["image/gif", "gif"],
] as const)("a wrapped %s is a clean SVG that holds its bytes", async (mediaType, format) => {
  const raster = await picture.clone().toFormat(format).toBuffer();
  const wrapped = wrapRaster(raster, mediaType, { width: 7, height: 5 });
  expect(cleanSvg(wrapped).equals(wrapped)).toBe(true);
  const [, embedded = ""] = /xlink:href="data:image\/\w+;base64,([^"]+)"/.exec(wrapped.toString()) ?? [];
  expect(Buffer.from(embedded, "base64").equals(raster)).toBe(true);
  expect(wrapped.toString()).toContain(`data:${mediaType};`);
});

test("a wrapped raster is drawn pixel by pixel, or stretched to the size", async () => {
  const wide = { raw: { width: 2, height: 1, channels: 3 } } as const;
  const png = await sharp(Buffer.from([255, 0, 0, 0, 0, 255]), wide)
    .png()
    .toBuffer();
  const same = await sharp(wrapRaster(png, "image/png", { width: 2, height: 1 }))
    .removeAlpha()
    .raw()
    .toBuffer();
  expect([...same]).toEqual([255, 0, 0, 0, 0, 255]);
  const stretched = sharp(wrapRaster(png, "image/png", { width: 8, height: 9 })).removeAlpha();
  const { info } = await stretched.clone().raw().toBuffer({ resolveWithObject: true });
  expect([info.width, info.height]).toEqual([8, 9]);
  const corner = await stretched.extract({ left: 7, top: 8, width: 1, height: 1 }).raw().toBuffer();
  expect([...corner]).toEqual([0, 0, 255]);
});

test("a wrapped raster of MAX_WRAPPED_BYTES is an accepted SVG", () => {
  const raster = Buffer.alloc(MAX_WRAPPED_BYTES);
  raster.write("GIF89a", "latin1");
  const wrapped = wrapRaster(raster, "image/gif", { width: 65_535, height: 65_535 });
  expect(wrapped.length).toBeLessThanOrEqual(MAX_SVG_BYTES);
  expect(cleanSvg(wrapped).equals(wrapped)).toBe(true);
});
