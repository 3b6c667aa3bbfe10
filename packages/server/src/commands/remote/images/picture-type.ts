import type { OriginalType } from "@outrigger/core/images";
import { sniffType } from "@outrigger/core/values";

/** The types that can be uploaded, with their common names. */
export const PICTURE_TYPES: Readonly<Record<OriginalType, string>> = {
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/gif": "GIF",
  "image/svg+xml": "SVG",
  "image/x-photoshop": "PSD",
  "application/pdf": "PDF",
};

/** Number of first bytes that {@link pictureTypeOf} needs. */
export const HEAD_BYTES = 4096;

const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * The type of a file by its first bytes; `null` for a file that is certainly none of {@link PICTURE_TYPES}. Doubtful files are
 * left to the service, which reads them completely.
 * @param name Name of the file. Only compressed data needs it: a compressed SVG has no signature.
 */
export function pictureTypeOf(head: Buffer, name: string): OriginalType | null {
  if (head.subarray(0, 2).equals(GZIP) && !/\.svgz?$/i.test(name)) return null;
  return sniffType(head, "image/svg+xml");
}
