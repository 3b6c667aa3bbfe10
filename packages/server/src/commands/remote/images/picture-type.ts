import type { OriginalType } from "@outrigger/core";
import { sniffType } from "@outrigger/core/images";

/** The types that can be uploaded, and what people call them. */
export const PICTURE_TYPES: Readonly<Record<OriginalType, string>> = {
  "image/png": "PNG",
  "image/jpeg": "JPEG",
  "image/gif": "GIF",
  "image/svg+xml": "SVG",
  "image/x-photoshop": "PSD",
  "application/pdf": "PDF",
};

/** As many first bytes as {@link pictureTypeOf} wants to see. */
export const HEAD_BYTES = 4096;

const GZIP = Buffer.from([0x1f, 0x8b]);

/**
 * The type of a file by its first bytes, `null` for what is certainly none of those that are taken. What is doubtful is left
 * to the service, which looks at all of it.
 * @param name The file's, which counts for what is compressed alone: an SVG then looks like anything.
 */
export function pictureTypeOf(head: Buffer, name: string): OriginalType | null {
  if (head.subarray(0, 2).equals(GZIP) && !/\.svgz?$/i.test(name)) return null;
  return sniffType(head, "image/svg+xml");
}
