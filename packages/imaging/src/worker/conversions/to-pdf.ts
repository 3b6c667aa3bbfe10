import type { RenditionSpec, Size } from "@outrigger/core/images";
import sharp from "sharp";
import type { Placement } from "../../shared/crop.ts";
import { fitInside } from "../../shared/fit.ts";
import { isSized } from "../../shared/measure.ts";
import { awaitLibvips, readPixels } from "../libvips.ts";
import type { PageFrame } from "../pdf/frame-pages.ts";
import { PIXELS_PER_POINT } from "../pdf/open-pdf.ts";
import { transformPdf } from "../pdf/transform-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "../pdf/write-pdf.ts";
import { stripPdf } from "../privacy/strip-pdf.ts";
import { type Conversion, isPlainRaster, keepsSize, uprightPixels } from "./conversion.ts";
import { encodedPixels } from "./to-raster.ts";
import { vectorPage } from "./vector-pdf.ts";

/** Pixels per point for a drawing that must become a raster: sharp on paper and on high-density screens. */
const DRAWN_DENSITY = 2;

/** A PDF at another size, or a page that holds the picture, with one point per pixel. */
export async function toPdf(conversion: Conversion): Promise<Buffer> {
  switch (conversion.type) {
    case "application/pdf":
      return transformed(conversion);
    case "image/jpeg":
      return jpegPage(conversion);
    case "image/svg+xml":
      return (await vectorPage(conversion)) ?? pixelPage(conversion);
    default:
      return pixelPage(conversion);
  }
}

/** Scales all pages by the factor that fits the first (or the chosen) page into the box. */
async function transformed({ bytes, picture, size, placed, spec }: Conversion): Promise<Buffer> {
  const drawn = placed ?? size;
  const pdf = await transformPdf(bytes, {
    ...(spec.page === undefined ? {} : { page: spec.page }),
    ...(isSized(spec) ? { scale: drawn.width / picture.natural.width } : {}),
    ...(placed === null ? {} : { frame: frameOf(placed, size, spec) }),
  });
  // Pages have metadata if the host keeps it, or if an older version admitted them. Only an upload is refused for it.
  return Buffer.concat((await stripPdf(pdf, { keepPdfActions: true, keepUnremovable: true })) ?? [pdf]);
}

/** In points, of which each has two pixels. */
function frameOf(
  { left, top }: Placement,
  { width, height }: Size,
  { background }: RenditionSpec,
): PageFrame {
  const points = (pixels: number) => pixels / PIXELS_PER_POINT;
  return {
    left: points(left),
    top: points(top),
    width: points(width),
    height: points(height),
    background,
  };
}

/** Embeds a JPEG as it is if possible, so that it loses no more quality. */
async function jpegPage(conversion: Conversion): Promise<Buffer> {
  const { bytes, type, size, limits } = conversion;
  const isWhole = keepsSize(conversion) && (await isPlainRaster(bytes));
  const jpeg = isWhole ? bytes : await encodedPixels(conversion, "jpg", size);
  const { width, height, channels } = await awaitLibvips(type, limits, sharp(jpeg).metadata());
  return pdfOfJpeg(jpeg, { width, height, components: channels === 1 ? 1 : 3 }, size);
}

async function pixelPage(conversion: Conversion): Promise<Buffer> {
  const { type, picture, size, limits, pixelsPerPoint = 1 } = conversion;
  const drawnSize = picture.scalable
    ? fitInside(size, {
        maxWidth: size.width * DRAWN_DENSITY,
        maxHeight: size.height * DRAWN_DENSITY,
        enlarge: true,
        maxSide: limits.maxSide,
        maxPixels: limits.maxOutputPixels,
      })
    : size;
  const image = await uprightPixels(conversion, { size: drawnSize });
  const { pixels, ...raster } = await readPixels(image, type, limits);
  return pdfOfPixels(pixels, raster, {
    width: size.width / pixelsPerPoint,
    height: size.height / pixelsPerPoint,
  });
}
