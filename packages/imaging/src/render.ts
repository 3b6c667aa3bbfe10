import type { OriginalType, RenderSource, Rendition, RenditionSpec } from "@outrigger/core";
import { ServiceError } from "@outrigger/core";
import { readAll } from "./byte-source.ts";
import { type EncodedFormat, isDecodedType, isEncodedFormat } from "./conversions.ts";
import { encode } from "./encode.ts";
import { fitInside, type Size } from "./fit.ts";
import { openPicture, type Picture, reading } from "./open-picture.ts";
import type { PictureLimits } from "./wire.ts";

/** What `Renderer.render` does, in the worker. */
export async function render(
  source: RenderSource,
  type: OriginalType,
  spec: RenditionSpec,
  limits: PictureLimits,
): Promise<Rendition> {
  const { format } = spec;
  if (!isDecodedType(type) || !isEncodedFormat(format)) {
    throw new ServiceError("not_implemented", `No renderer for ${type} as ${format} is installed.`);
  }
  const picture = await openPicture(await readAll(source), type, limits);
  const animated = picture.frames > 1 && (format === "gif" || format === "webp");
  const size = fitInside(picture.natural, {
    maxWidth: spec.maxWidth,
    maxHeight: spec.maxHeight,
    enlarge: type === "image/svg+xml",
    maxSide: limits.maxSide,
    maxPixels: maxFramePixels(format, animated ? picture.frames : 1, limits),
  });
  let image = picture.decode({ animated, drawnAs: size });
  if (!isSameSize(picture, size)) image = image.resize({ ...size, fit: "fill" });
  const encoded = encode(image, format, {
    quality: spec.quality ?? "high",
    fromJpeg: type === "image/jpeg",
    animated,
    pixels: size.width * size.height,
  });
  return { bytes: await reading(type, limits, encoded.toBuffer()) };
}

function maxFramePixels(format: EncodedFormat, frames: number, limits: PictureLimits): number {
  const bounds = [limits.maxOutputPixels];
  if (format === "gif") bounds.push(limits.maxGifOutputPixels);
  if (format === "avif") bounds.push(limits.maxAvifOutputPixels);
  if (frames > 1) bounds.push(Math.floor(limits.maxAnimationOutputPixels / frames));
  return Math.min(...bounds);
}

function isSameSize({ natural }: Picture, size: Size): boolean {
  return natural.width === size.width && natural.height === size.height;
}
