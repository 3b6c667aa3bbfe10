import type { ImageFormat, ImageView } from "@outrigger/core";
import { type Address, absoluteAddress } from "./addresses.ts";

/** Every format in the order of the page, with the name that people know it by. */
const NAMES: Readonly<Record<ImageFormat, string>> = {
  png: "PNG",
  jpg: "JPEG",
  webp: "WebP",
  avif: "AVIF",
  gif: "GIF",
  svg: "SVG",
  psd: "PSD",
  pdf: "PDF",
};

const FORMAT_OF_TYPE: ReadonlyMap<string, ImageFormat> = new Map([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/webp", "webp"],
  ["image/gif", "gif"],
  ["image/svg+xml", "svg"],
  ["image/x-photoshop", "psd"],
  ["application/pdf", "pdf"],
]);

/** A format that the image can be had in. */
export interface Offer {
  format: ImageFormat;
  name: string;
  address: Address;
  /** Whether these are the bytes that were uploaded. */
  isOriginal: boolean;
}

/** What is on offer, the original first. Links that are not plain web addresses are left out. */
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

/** Short name of a media type, for a placeholder: `PDF`. */
export function shortTypeName(type: string): string {
  const format = FORMAT_OF_TYPE.get(type);
  return format === undefined ? type : NAMES[format];
}

function formats(): [ImageFormat, string][] {
  // Object.entries widens the keys to string; they are those of the record above.
  return Object.entries(NAMES) as [ImageFormat, string][];
}
