import type { OriginalType } from "@outrigger/core/images";
import type { PictureLimits } from "../shared/wire.ts";
import { openRaster } from "./open-raster.ts";
import { openPdf } from "./pdf/open-pdf.ts";
import type { Picture } from "./picture.ts";
import { openPsd } from "./psd/open-psd.ts";
import { openSvg } from "./svg/open-svg.ts";

/**
 * Reads the header of an original. An SVG must be cleaned before. `page` is a page of a PDF, from 1.
 *
 * Rejects with `unsupported_media` (not of this type, damaged, or over a limit) and with `bad_request` for a page that
 * the document does not have.
 */
export async function openPicture(
  bytes: Buffer,
  type: OriginalType,
  limits: PictureLimits,
  page = 1,
): Promise<Picture> {
  switch (type) {
    case "image/svg+xml":
      return openSvg(bytes, limits);
    case "image/x-photoshop":
      return openPsd(bytes, limits);
    case "application/pdf":
      return openPdf(bytes, { page, maxPixels: limits.maxOutputPixels });
    default:
      return openRaster(bytes, type, limits);
  }
}
