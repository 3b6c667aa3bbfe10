import type { OriginalType, Rendition, RenditionSpec } from "@outrigger/core";
import { INTERMEDIATE_SIDE, intermediateSize } from "../shared/intermediate.ts";
import { isAnimated, renditionSize } from "../shared/measure.ts";
import type { PictureLimits, RenderMode } from "../shared/wire.ts";
import { type Conversion, uprightPixels } from "./conversions/conversion.ts";
import { toPdf } from "./conversions/to-pdf.ts";
import { toRaster } from "./conversions/to-raster.ts";
import { toSvg } from "./conversions/to-svg.ts";
import { pictureOfPixels, readIntermediate, writeIntermediate } from "./intermediate-file.ts";
import { type Pixels, readPixels } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import { writePsd } from "./psd/write-psd.ts";

/** `Renderer.render`, in the worker. */
export async function render(
  bytes: Buffer,
  type: OriginalType,
  spec: RenditionSpec,
  limits: PictureLimits,
  mode: RenderMode,
): Promise<Rendition> {
  if (mode === "from intermediate") {
    const pixels = await readIntermediate(bytes, type, { side: INTERMEDIATE_SIDE });
    const natural = { width: pixels.width, height: pixels.height };
    const size = renditionSize({ type, natural, frames: 1 }, spec, limits);
    return { bytes: await convertPixels(pixels, { bytes, type, spec, size, limits }) };
  }
  const picture = await openPicture(bytes, type, limits, spec.page);
  const { natural, frames } = picture;
  const size = renditionSize({ type, natural, frames }, spec, limits);
  const conversion = { bytes, type, spec, size, limits };
  const reduced = intermediateSize({ type, natural, frames, bytes: bytes.length }, spec, size, limits);
  if (reduced === null) {
    const animated = isAnimated(spec.format, frames);
    return { bytes: await convert({ ...conversion, picture, animated, indirect: false }) };
  }
  const whole: Conversion = { ...conversion, picture, size: reduced, animated: false, indirect: false };
  const pixels = await readPixels(await uprightPixels(whole), type, limits);
  const rendition = { bytes: await convertPixels(pixels, conversion) };
  return mode === "direct" ? rendition : { ...rendition, intermediate: await writeIntermediate(pixels) };
}

/** Converts the pixels of an intermediate to a rendition. */
function convertPixels(
  pixels: Pixels,
  conversion: Pick<Conversion, "bytes" | "type" | "spec" | "size" | "limits">,
): Promise<Buffer> {
  return convert({ ...conversion, picture: pictureOfPixels(pixels), animated: false, indirect: true });
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

/** A Photoshop document of one layer. */
async function toPsd(conversion: Conversion): Promise<Buffer> {
  const { type, limits } = conversion;
  const { pixels, ...size } = await readPixels(await uprightPixels(conversion), type, limits);
  return writePsd(pixels, size);
}
