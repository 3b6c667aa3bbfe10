import type { ImageView } from "@outrigger/core/images";
import { type Address, withParameter } from "./addresses.ts";
import type { Offer } from "./formats.ts";
import { t } from "./texts.ts";

/** Width and height in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** A picture for `<img>`, at most about as large as a screen. */
export interface ShownPicture {
  address: Address;
  /** The same picture in several widths, for `srcset`; empty when there is only one. */
  sources: readonly { address: Address; width: number }[];
  /** The picture at full size. */
  full: Address;
  /** Whether `full` is larger than what is shown. */
  isBounded: boolean;
  /** Size of the shown picture, for the layout; `null` when unknown. */
  size: Size | null;
  isOpaque: boolean;
  /** The first frame of an animation; `null` for a still picture. */
  still: Address | null;
}

/** Sides of the boxes for large pictures: for phones, and for high-density screens. */
const BOXES = [1024, 2048] as const;
const MAX_SIDE = 2048;
/** Longest sides to choose from, for downloads and embedding. */
const SIDES = [
  ["Large", 2048],
  ["Medium", 800],
  ["Small", 320],
] as const;
const MAX_SHOWN_BYTES = 4_000_000;
/** A picture above this height in pixels and this ratio of height to width is scrolled, not shrunk to fit. */
const MIN_TALL_HEIGHT = 1000;
const MIN_TALL_RATIO = 2.5;
const MAX_PREVIEW_SIDE = 1200;
/** The smallest limit for animations among services that show link previews. */
const MAX_PREVIEW_BYTES = 8_000_000;

/** The picture that the page shows; `null` when browsers can show none of the offers. */
export function shownPicture(view: ImageView, offers: readonly Offer[]): ShownPicture | null {
  const full = displayableOffer(view, offers);
  if (full === null) return null;
  const fullAddress = pageAddress(view, full.address);
  const isOpaque = view.type === "image/jpeg" || view.type === "application/pdf";
  const whole: ShownPicture = {
    address: fullAddress,
    full: fullAddress,
    sources: [],
    isBounded: false,
    size: sizeOf(view),
    isOpaque,
    still: null,
  };
  // A smaller animation would have about as many bytes, and a drawing scales by itself.
  if (full.format === "gif" && (view.pages ?? 1) > 1) {
    return { ...whole, still: offers.find(({ format }) => format === "png")?.address ?? null };
  }
  if (full.format === "gif" || full.format === "svg") return whole;
  const compact = offers.find(({ format }) => format === "webp") ?? full;
  const compactAddress = pageAddress(view, compact.address);
  const natural = sizeOf(view);
  if (natural !== null && (isTall(natural) ? natural.width <= MAX_SIDE : isWithin(natural, MAX_SIDE))) {
    if (full.isOriginal && view.size <= MAX_SHOWN_BYTES) return whole;
    return { ...whole, address: compactAddress };
  }
  const [smaller, larger] = BOXES.map((side) => boxed(view, compactAddress, side));
  if (smaller === undefined || larger === undefined) return whole;
  return {
    ...whole,
    address: larger,
    sources:
      natural !== null
        ? [
            { address: smaller, width: fitted(natural, square(BOXES[0]), false).width },
            { address: larger, width: fitted(natural, square(BOXES[1]), false).width },
          ]
        : [],
    isBounded: true,
    size: natural === null ? null : fitted(natural, square(MAX_SIDE), false),
  };
}

/** Whether a picture, shrunk to the height of a window, would be too narrow to read. */
export function isTall(size: Size | null): boolean {
  return size !== null && size.height > MIN_TALL_HEIGHT && size.height > MIN_TALL_RATIO * size.width;
}

/** A thumbnail within a square of `side` pixels; `null` when there is no raster. */
export function thumbnail(view: ImageView, offers: readonly Offer[], side: number): Address | null {
  const full = displayableOffer(view, offers);
  if (full === null) return null;
  if (full.format === "svg") return full.address;
  const still = offers.find(({ format }) => format === "webp") ?? full;
  return boxed(view, still.address, side);
}

/** The picture for link previews, a raster of bounded size, and its size; `null` when there is none. */
export function previewPicture(
  view: ImageView,
  offers: readonly Offer[],
): { address: Address; size: Size | null } | null {
  const find = (...formats: string[]) =>
    formats.flatMap((format) => offers.find((offer) => offer.format === format) ?? [])[0];
  const original = offers.find(({ isOriginal }) => isOriginal);
  if (original?.format === "gif" && view.size <= MAX_PREVIEW_BYTES) {
    return { address: original.address, size: sizeOf(view) };
  }
  const natural = sizeOf(view);
  const chosen = isPhoto(view) ? find("jpg", "png", "webp", "gif") : find("png", "jpg", "webp", "gif");
  if (chosen === undefined) return null;
  const isScalable = view.type === "image/svg+xml" || view.type === "application/pdf";
  if (chosen.isOriginal && natural !== null && isWithin(natural, MAX_PREVIEW_SIDE)) {
    return { address: chosen.address, size: natural };
  }
  return {
    address: boxed(view, pageAddress(view, chosen.address), MAX_PREVIEW_SIDE),
    size: natural === null ? null : fitted(natural, square(MAX_PREVIEW_SIDE), isScalable),
  };
}

/** The original if browsers display it, else a raster of it. */
export function displayableOffer({ page }: ImageView, offers: readonly Offer[]): Offer | null {
  const displayed = ["png", "jpg", "webp", "gif", "svg"];
  const original = offers.find(({ isOriginal, format }) => isOriginal && displayed.includes(format));
  if (original !== undefined && page === 1) return original;
  const rasters = ["png", "jpg", "webp", "gif"];
  return rasters.flatMap((format) => offers.find((offer) => offer.format === format) ?? [])[0] ?? null;
}

/** The address of a rendition, for the page of the document that is shown. */
export function pageAddress(view: ImageView, address: Address): Address {
  return view.page === 1 ? address : changedAddress(view, address, "page", String(view.page));
}

/** The address of a rendition with one parameter set, signed if the service requires it. */
export function changedAddress(view: ImageView, address: Address, name: string, value: string): Address {
  const href = withParameter(address, name, value);
  return { ...address, href: view.sign?.(href) ?? href };
}

/** Whether a picture is a photograph. A PNG that compresses badly is one; as a JPEG it has a tenth of the bytes. */
function isPhoto(view: ImageView): boolean {
  if (view.type === "image/jpeg" || view.type === "application/pdf") return true;
  const size = sizeOf(view);
  return view.type === "image/png" && size !== null && view.size > size.width * size.height;
}

/** The address of a rendition within a square of `side` pixels. */
export function boxed(view: ImageView, address: Address, side: number): Address {
  return changedAddress(view, address, "resize", `${side}x${side}`);
}

/** Sizes to choose from, the largest first. A raster is never enlarged. @returns none where the size of the picture is unknown. */
export function sizeChoices(view: ImageView): readonly { label: string; side: number | null }[] {
  const natural = sizeOf(view);
  if (natural === null) return [];
  const isScalable = view.type === "image/svg+xml" || view.type === "application/pdf";
  const smaller = SIDES.filter(([, side]) => isScalable || !isWithin(natural, side));
  return [
    { label: t("viewer.originalSize"), side: null },
    ...smaller.map(([name, side]) => ({ label: t(`viewer.${name}`, { side: String(side) }), side })),
  ];
}

/** The size of the shown page; `null` when unknown. */
function sizeOf({ width, height }: ImageView): Size | null {
  return width === null || height === null ? null : { width, height };
}

function isWithin({ width, height }: Size, side: number): boolean {
  return width <= side && height <= side;
}

function square(side: number): Size {
  return { width: side, height: side };
}

/** The size after fitting into a box, as the service computes it. */
function fitted({ width, height }: Size, box: Size, enlarge: boolean): Size {
  const scale = Math.min(enlarge ? Number.POSITIVE_INFINITY : 1, box.width / width, box.height / height);
  const scaled = (length: number, most: number) => Math.min(most, Math.max(1, Math.round(length * scale)));
  return { width: scaled(width, box.width), height: scaled(height, box.height) };
}
