import type { ImageFormat, OriginalType } from "@outrigger/core";

/** The originals that libvips decodes. */
export type DecodedType = "image/png" | "image/jpeg" | "image/gif" | "image/svg+xml";

/** The formats that libvips writes. */
export type EncodedFormat = "png" | "jpg" | "gif" | "webp" | "avif";

const decodedTypes = new Set<OriginalType>(["image/png", "image/jpeg", "image/gif", "image/svg+xml"]);
const encodedFormats = new Set<ImageFormat>(["png", "jpg", "gif", "webp", "avif"]);

/** Whether originals of `type` are decoded here. */
export function isDecodedType(type: OriginalType): type is DecodedType {
  return decodedTypes.has(type);
}

/** Whether renditions in `format` are written here. */
export function isEncodedFormat(format: ImageFormat): format is EncodedFormat {
  return encodedFormats.has(format);
}
