import type { OriginalType, RenderSource, Rendition, RenditionSpec } from "@outrigger/core";
import { readAll } from "./byte-source.ts";
import type { Conversion } from "./conversions/conversion.ts";
import { toPdf } from "./conversions/to-pdf.ts";
import { toPsd } from "./conversions/to-psd.ts";
import { toRaster } from "./conversions/to-raster.ts";
import { toSvg } from "./conversions/to-svg.ts";
import { isAnimated, renditionSize } from "./measure.ts";
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
  const animated = isAnimated(spec.format, picture.frames);
  const size = renditionSize({ type, natural: picture.natural, frames: picture.frames }, spec, limits);
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
