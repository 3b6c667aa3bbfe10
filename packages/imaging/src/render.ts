import type { ImageFormat, OriginalType, RenderSource, Rendition, RenditionSpec } from "@outrigger/core";
import { readAll } from "./byte-source.ts";
import type { Conversion } from "./conversions/conversion.ts";
import { toPdf } from "./conversions/to-pdf.ts";
import { toPsd } from "./conversions/to-psd.ts";
import { toRaster } from "./conversions/to-raster.ts";
import { toSvg } from "./conversions/to-svg.ts";
import { fitInside } from "./fit.ts";
import { openPicture } from "./open-picture.ts";
import type { PictureLimits } from "./wire.ts";

/** What `Renderer.render` does, in the worker. */
export async function render(
  source: RenderSource,
  type: OriginalType,
  spec: RenditionSpec,
  limits: PictureLimits,
): Promise<Rendition> {
  const bytes = await readAll(source);
  const picture = await openPicture(bytes, type, limits, spec.page);
  const animated = picture.frames > 1 && (["gif", "webp", "svg"] as ImageFormat[]).includes(spec.format);
  const size = fitInside(picture.natural, {
    maxWidth: spec.maxWidth,
    maxHeight: spec.maxHeight,
    enlarge: picture.scalable,
    maxSide: limits.maxSide,
    maxPixels: maxFramePixels(type, spec.format, animated ? picture.frames : 1, limits),
  });
  return { bytes: await convert({ bytes, type, picture, spec, size, animated, limits }) };
}

function convert(conversion: Conversion): Promise<Buffer> {
  const { format } = conversion.spec;
  switch (format) {
    case "svg":
      return toSvg(conversion);
    case "psd":
      return toPsd(conversion);
    case "pdf":
      return toPdf(conversion);
    default:
      return toRaster(conversion, format);
  }
}

function maxFramePixels(
  type: OriginalType,
  format: ImageFormat,
  frames: number,
  limits: PictureLimits,
): number {
  const bounds = [limits.maxOutputPixels];
  // A GIF stays one inside an SVG.
  if (format === "gif" || (format === "svg" && type === "image/gif")) bounds.push(limits.maxGifOutputPixels);
  if (format === "webp") bounds.push(limits.maxWebpOutputPixels);
  if (format === "avif") bounds.push(limits.maxAvifOutputPixels);
  if (frames > 1) bounds.push(Math.floor(limits.maxAnimationOutputPixels / frames));
  return Math.min(...bounds);
}
