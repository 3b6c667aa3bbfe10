import { checkOptions, type OptionRules } from "./check-options.ts";
import { formatAddress, parseImageAddress } from "./image-address.ts";
import { isObject } from "./reply.ts";

/** The part of an `ImageRecord` that {@link srcSet} reads. */
export type SrcSetImage = ImageSize & (ImageUrl | ImagePlace);

interface ImageSize {
  /** Pixels of the original. */
  readonly width: number | null;
  readonly height: number | null;
  /** Media type of the original. Only an SVG or PDF is drawn larger than it is. @default that of a raster */
  readonly type?: string | undefined;
  /** Frames of an animation. @default 1 */
  readonly pages?: number | null | undefined;
}

interface ImageUrl {
  /** Any absolute address of the image. Its query, and so its PIN, is left out. */
  readonly url: string;
  readonly baseUrl?: undefined;
}

interface ImagePlace {
  /** Absolute URL or path of the mount point, e.g. `/img`. */
  readonly baseUrl: string;
  readonly id: string;
}

export interface SrcSetOptions {
  /** Widths of the candidates in pixels, 1 to 8192, in any order. */
  widths: readonly number[];
  /**
   * Format of the candidates. WebP keeps transparency and animations. `auto`: each browser gets the best format that it
   * names. @default "webp"
   */
  format?: "auto" | "webp" | "avif" | "jpg" | "png" | "gif" | undefined;
  /** Quality of a `jpg`. @default "high" */
  convert?: "low" | "medium" | "high" | "max" | undefined;
  /** How wide the page shows the image: the value of the attribute `sizes`. @default "100vw" */
  sizes?: string | undefined;
}

/** Attributes of an `<img>`. */
export interface SrcSet {
  /** The widest candidate, for readers that ignore `srcSet`. */
  src: string;
  srcSet: string;
  sizes: string;
  /** Size of the original, from which browsers reserve the space before they load. */
  width: number;
  height: number;
}

const MAX_SIDE = 8192;
/** Pixels of a rendition under the defaults of the renderer. It scales larger ones down. `auto` may result in AVIF. */
const MAX_PIXELS = { webp: 16e6, avif: 6e6, jpg: 25e6, png: 25e6, gif: 4e6, auto: 6e6 };
const MAX_ANIMATION_PIXELS = 10e6;

/** An absolute URL without credentials, or a path; neither can end a candidate of `srcset`. */
const MOUNT_POINT = /^(?:https?:\/\/[^\s/?#@\\"'<>]+)?(?:\/[^\s/?#\\"'<>]+)*$/;

const isWhole = (given: unknown, max = Number.MAX_SAFE_INTEGER) =>
  Number.isSafeInteger(given) && Number(given) >= 1 && Number(given) <= max;

const RULES = {
  widths: [
    `a list of at least one whole number from 1 to ${MAX_SIDE}`,
    (given) =>
      Array.isArray(given) && given.length > 0 && [...given].every((each) => isWhole(each, MAX_SIDE)),
  ],
  format: [
    `one of ${Object.keys(MAX_PIXELS).join(", ")}`,
    (given) => typeof given === "string" && Object.hasOwn(MAX_PIXELS, given),
  ],
  convert: ["one of low, medium, high, max", (given) => /^(low|medium|high|max)$/.test(String(given))],
  sizes: ["a value of the attribute sizes", (given) => typeof given === "string" && given.trim() !== ""],
} satisfies Record<keyof SrcSetOptions, OptionRules[string]>;

/**
 * The attributes of a responsive `<img>`. Each width becomes one candidate. A width beyond the image's own becomes that of the
 * image, since rasters are never enlarged. Sends no request. Throws a TypeError for an invalid value, and for an image that is
 * still processed, whose size is not known.
 * @example <img {...srcSet(image, { widths: [400, 800, 1600] })} alt="" />
 */
export function srcSet(image: SrcSetImage, options: SrcSetOptions): SrcSet {
  checkOptions("srcSet", options, RULES);
  const { widths, format = "webp", convert, sizes = "100vw" } = options;
  if (widths === undefined) throw new TypeError(`widths must be ${RULES.widths[0]}`);
  const { baseUrl, id } = placeOf(image);
  const { width, height } = image;
  if (width === null || height === null || !isWhole(width) || !isWhole(height)) {
    throw new TypeError("image must have its width and height in pixels, as a record whose status is ready");
  }
  const widest = widestOf({ ...image, width, height }, format);
  const candidates = [...new Set(widths.map((each) => Math.min(each, widest)))].sort((a, b) => a - b);
  const address = (each: number) => formatAddress(baseUrl, id, format, { convert, resize: `${each}x` });
  return {
    src: address(candidates.at(-1) ?? widest),
    srcSet: candidates.map((each) => `${address(each)} ${each}w`).join(", "),
    ...{ sizes, width, height },
  };
}

function placeOf(image: SrcSetImage): { baseUrl: string; id: string } {
  if (!isObject(image))
    throw new TypeError("image must be a record, or an object with url, width and height");
  if (image.baseUrl !== undefined) {
    const baseUrl = String(image.baseUrl).replace(/\/+$/, "");
    if (MOUNT_POINT.test(baseUrl)) return { baseUrl, id: image.id };
    throw new TypeError("baseUrl must be an absolute URL or a path without a query, such as /img");
  }
  const address = parseImageAddress(image.url);
  if (address !== null) return address;
  throw new TypeError("image must have the absolute address of an image as its url, or else baseUrl and id");
}

/** Pixels of the widest rendition, computed as the renderer does. */
function widestOf(
  { type, width, height, pages }: SrcSetImage & { width: number; height: number },
  format: keyof typeof MAX_PIXELS,
): number {
  const isVector = type === "image/svg+xml" || type === "application/pdf";
  const isAnimated = type === "image/gif" && ["auto", "gif", "webp"].includes(format);
  const frames = isAnimated ? (pages ?? 1) : 1;
  const maxPixels =
    frames > 1 ? Math.min(MAX_PIXELS[format], Math.floor(MAX_ANIMATION_PIXELS / frames)) : MAX_PIXELS[format];
  const scale = Math.min(isVector ? Number.POSITIVE_INFINITY : 1, MAX_SIDE / width, MAX_SIDE / height);
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  if (side(width) * side(height) <= maxPixels) return side(width);
  const shrink = Math.sqrt(maxPixels / (width * height));
  return Math.min(side(width), Math.max(1, Math.floor(width * shrink)));
}
