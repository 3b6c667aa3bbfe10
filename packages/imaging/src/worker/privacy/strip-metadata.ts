import type { ConvertibleType, OriginalType } from "@outrigger/core/images";
import { decodeSvgText } from "../svg/decode-svg-text.ts";
import { stripJpeg } from "./strip-jpeg.ts";
import { type StripPdfOptions, stripPdf } from "./strip-pdf.ts";
import { stripPsd } from "./strip-psd.ts";
import { stripGif, stripPng } from "./strip-raster.ts";

/** What every manifest store of C2PA begins with: the description of a JUMBF box with its UUID. */
const MANIFEST = Buffer.from("6a756d646332706100110010800000aa00389b71", "hex");
/** The same in an SVG, after the 12 bytes of lengths and types before it. */
const MANIFEST_BASE64 = MANIFEST.subarray(0, 18).toString("base64");

/**
 * Whether a file has Content Credentials: a manifest store, which no type compresses but PDF, where it may be an attached file.
 *
 * Source: C2PA 2.2, section 11.1.4 and appendix A.
 */
export function hasCredentials(bytes: Buffer, type: OriginalType | ConvertibleType): boolean {
  if (type === "image/svg+xml") return decodeSvgText(bytes).includes(MANIFEST_BASE64);
  return bytes.includes(MANIFEST) || (type === "application/pdf" && bytes.includes("/C2PA_Manifest"));
}

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
