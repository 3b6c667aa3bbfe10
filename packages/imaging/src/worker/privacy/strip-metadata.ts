import type { OriginalType } from "@outrigger/core/images";
import { stripJpeg } from "./strip-jpeg.ts";
import { type StripPdfOptions, stripPdf } from "./strip-pdf.ts";
import { stripPsd } from "./strip-psd.ts";
import { stripGif, stripPng } from "./strip-raster.ts";

/**
 * Removes personal metadata from an original (place, camera, author, programs, dates, thumbnails) without encoding its
 * pixels again. Pixels, orientation and colour profile stay. A PDF also loses its actions and files. `options` name what
 * stays. `bytes` is not modified.
 *
 * Returns the cleaned file in pieces, most of them parts of `bytes`, or `null` when there is nothing to remove. Rejects
 * with `unsupported_media` for a file whose structure cannot be parsed.
 */
export async function stripMetadata(
  bytes: Buffer,
  type: Exclude<OriginalType, "image/svg+xml">,
  options: StripPdfOptions = {},
): Promise<readonly Buffer[] | null> {
  if (type === "application/pdf") {
    const keepsAll = options.keepMetadata === true && options.keepPdfActions === true;
    return keepsAll ? null : await stripPdf(bytes, options);
  }
  if (options.keepMetadata === true) return null;
  switch (type) {
    case "image/jpeg":
      return stripJpeg(bytes, { gainMap: true });
    case "image/png":
      return stripPng(bytes);
    case "image/gif":
      return stripGif(bytes);
    case "image/x-photoshop":
      return stripPsd(bytes);
  }
}
