import type { ImageFormat, ImageView } from "@outrigger/core/images";
import { type Address, absoluteAddress } from "./addresses.ts";
import { texts } from "./texts.ts";

/** Every format in page order, with its usual name. */
export const FORMAT_NAMES: Readonly<Record<ImageFormat, string>> = {
  png: "PNG",
  jpg: "JPEG",
  webp: "WebP",
  avif: "AVIF",
  gif: "GIF",
  svg: "SVG",
  psd: "PSD",
  pdf: "PDF",
};

/** The format of each media type of originals. */
export const FORMAT_OF_TYPE: ReadonlyMap<string, ImageFormat> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/webp", "webp"],
  ["image/gif", "gif"],
  ["image/svg+xml", "svg"],
  ["image/x-photoshop", "psd"],
  ["application/pdf", "pdf"],
]);

/** A format in which the image can be downloaded. */
export interface Offer {
  format: ImageFormat;
  name: string;
  address: Address;
  /** Whether this is the original. */
  isOriginal: boolean;
}

/** The available formats, the original first. Links that are not http(s) URLs are left out. */
export function offersOf(view: ImageView): Offer[] {
  const offers: Offer[] = [];
  for (const [format, name] of formats()) {
    const link = view.links[format];
    const address = link === undefined ? null : absoluteAddress(link);
    if (address !== null) {
      offers.push({ format, name, address, isOriginal: format === FORMAT_OF_TYPE.get(view.type) });
    }
  }
  return offers.sort((one, other) => Number(other.isOriginal) - Number(one.isOriginal));
}

/** Short name of a media type: `PDF`. */
export function shortTypeName(type: string): string {
  const format = FORMAT_OF_TYPE.get(type);
  return format === undefined ? type.replace("image/", "").toUpperCase() : FORMAT_NAMES[format];
}

/** The media types to choose from: `PNG, JPEG or GIF`. */
export function typesText(types: readonly string[]): string {
  return new Intl.ListFormat(texts().locale, { type: "disjunction" }).format(types.map(shortTypeName));
}

function formats(): [ImageFormat, string][] {
  // Object.entries widens the keys to string; they are those of the record above.
  return Object.entries(FORMAT_NAMES) as [ImageFormat, string][];
}
