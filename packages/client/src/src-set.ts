import { checkOptions, isObject, type OptionRules } from "./checks.ts";
import { formatAddress, parseImageAddress } from "./image-address.ts";
import type { ImageRecord, PicturePoint } from "./image-types.ts";

/** The part of an `ImageRecord` that {@link srcSet} reads. Absent: an opaque raster that is no animation. */
export type SrcSetImage = Readonly<Pick<ImageRecord, "width" | "height">> & {
  readonly [Name in "type" | "pages" | "placeholder" | "color" | "description"]?:
    | ImageRecord[Name]
    | undefined;
} & (ImageUrl | ImagePlace);

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
  /** Value of the attribute `sizes`: how wide the page shows the image. @default "100vw" */
  sizes?: string | undefined;
  /** Width by height of every candidate, above 0: `16 / 9`, `1` for squares. @default that of the image */
  ratio?: number | undefined;
  /** With `ratio`: `cover` cuts the image, `pad` extends it by bars. @default "cover" */
  fit?: "cover" | "pad" | undefined;
  /** With `cover`: the part that stays. @default the focus of the image, else the centre */
  at?: PicturePoint | "attention" | "entropy" | undefined;
  /** With `pad`: colour of the bars, `rrggbb` or `transparent`. @default "transparent"; white in `jpg` */
  background?: string | undefined;
  /**
   * Adds a `style` that shows the colour of the image until it is loaded; with `thumbHashToDataURL` of the package
   * `thumbhash`, a blurred picture. An image that may be transparent gets none.
   * @default false
   */
  placeholder?: boolean | ((hash: Uint8Array) => string) | undefined;
}

/** Attributes of an `<img>`. */
export interface SrcSet {
  /** The widest candidate, for readers that ignore `srcSet`. */
  src: string;
  srcSet: string;
  sizes: string;
  /** Only if the image has a description. */
  alt?: string;
  /** Size of the original, or with `ratio` of the widest candidate: browsers reserve the space before they load. */
  width: number;
  height: number;
  /** Only with the option `placeholder`, if the record has a placeholder without transparency. */
  style?: { background: string };
}

const MAX_SIDE = 8192;
/** Pixels of a rendition under the defaults of the renderer. It scales larger ones down. `auto` may result in AVIF. */
const MAX_PIXELS = { webp: 16e6, avif: 6e6, jpg: 25e6, png: 25e6, gif: 4e6, auto: 6e6 };
const MAX_ANIMATION_PIXELS = 10e6;

/** An absolute URL without credentials, or a path; neither can end a candidate of `srcset`. */
const MOUNT_POINT = /^(?:https?:\/\/[^\s/?#@\\"'<>]+)?(?:\/[^\s/?#\\"'<>]+)*$/;

const isWhole = (given: unknown, max = Number.MAX_SAFE_INTEGER) =>
  Number.isSafeInteger(given) && Number(given) >= 1 && Number(given) <= max;

const oneOf = (...words: string[]): OptionRules[string] => [
  `one of ${words.join(", ")}`,
  (given) => words.includes(String(given)),
];

const RULES = {
  widths: [
    `a list of at least one whole number from 1 to ${MAX_SIDE}`,
    (given) =>
      Array.isArray(given) && given.length > 0 && [...given].every((each) => isWhole(each, MAX_SIDE)),
  ],
  format: oneOf(...Object.keys(MAX_PIXELS)),
  convert: oneOf("low", "medium", "high", "max"),
  sizes: ["a value of the attribute sizes", (given) => typeof given === "string" && given.trim() !== ""],
  ratio: ["a number above 0", (given) => Number.isFinite(given) && Number(given) > 0],
  fit: oneOf("cover", "pad"),
  at: [
    "[x, y], attention or entropy",
    (given) => Array.isArray(given) || given === "attention" || given === "entropy",
  ],
  background: ["rrggbb or transparent", (given) => /^([\da-f]{6}|transparent)$/i.test(String(given))],
  placeholder: ["a boolean or a function", (given) => /^(boolean|function)$/.test(typeof given)],
} satisfies Record<keyof SrcSetOptions, OptionRules[string]>;

/**
 * The attributes of a responsive `<img>`. Each width becomes one candidate. A width beyond the image's own becomes that of the
 * image, since rasters are never enlarged. Sends no request. Throws a TypeError for an invalid value, and for an image that is
 * still processed, whose size is not known.
 * @example <img alt="" {...srcSet(image, { widths: [400, 800, 1600] })} />
 */
export function srcSet(image: SrcSetImage, options: SrcSetOptions): SrcSet {
  checkOptions("srcSet", options, RULES);
  const { widths, format = "webp", convert, sizes = "100vw", ratio, fit = "cover", at, background } = options;
  if (widths === undefined) throw new TypeError(`widths must be ${RULES.widths[0]}`);
  if (ratio === undefined && (options.fit ?? at ?? background) !== undefined) {
    throw new TypeError("fit, at and background need ratio");
  }
  const { baseUrl, id } = placeOf(image);
  const { width, height } = image;
  if (width === null || height === null || !isWhole(width) || !isWhole(height)) {
    throw new TypeError("image must have its width and height in pixels, as a record whose status is ready");
  }
  const maxPixels = maxPixelsOf(image, format);
  const natural = { ...image, width, height };
  const widest =
    ratio === undefined ? widestWhole(natural, maxPixels) : widestOf(natural, maxPixels, ratio, fit);
  const candidates = [...new Set(widths.map((each) => Math.min(each, widest)))].sort((a, b) => a - b);
  const heightOf = (each: number) => (ratio === undefined ? "" : Math.max(1, Math.round(each / ratio)));
  const crop = ratio === undefined ? {} : { fit, at, background };
  const address = (each: number) =>
    formatAddress(baseUrl, id, format, { convert, resize: `${each}x${heightOf(each)}`, ...crop });
  const last = candidates.at(-1) ?? widest;
  const style = options.placeholder ? styleOf(image, options.placeholder) : null;
  return {
    src: address(last),
    srcSet: candidates.map((each) => `${address(each)} ${each}w`).join(", "),
    sizes,
    ...(image.description && { alt: image.description }),
    width,
    height,
    ...(ratio && { width: last, height: Number(heightOf(last)) }),
    ...(style && { style }),
  };
}

/** The background that shows an opaque image until it is loaded; `null` if the record has none. */
function styleOf(
  { placeholder, color }: SrcSetImage,
  decode: NonNullable<SrcSetOptions["placeholder"]>,
): SrcSet["style"] | null {
  if (!placeholder || !/^#[\da-f]{6}$/i.test(String(color))) return null;
  const hash = Uint8Array.from(atob(placeholder), (character) => character.charCodeAt(0));
  // The highest bit of the third byte of a ThumbHash: the image has transparent parts.
  if (hash[2] === undefined || hash[2] > 127) return null;
  const picture = typeof decode === "function" ? ` center / cover url("${decode(hash)}")` : "";
  return { background: color + picture };
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

function maxPixelsOf({ type, pages }: SrcSetImage, format: keyof typeof MAX_PIXELS): number {
  const isAnimated = type === "image/gif" && ["auto", "gif", "webp"].includes(format);
  const frames = isAnimated ? (pages ?? 1) : 1;
  return frames > 1
    ? Math.min(MAX_PIXELS[format], Math.floor(MAX_ANIMATION_PIXELS / frames))
    : MAX_PIXELS[format];
}

const isVector = ({ type }: SrcSetImage) => type === "image/svg+xml" || type === "application/pdf";

type SizedImage = SrcSetImage & { width: number; height: number };

/** Pixels of the widest rendition of `ratio` that the renderer neither scales down nor gives more bars than the narrower ones. */
function widestOf(image: SizedImage, maxPixels: number, ratio: number, fit: "cover" | "pad"): number {
  const { width, height } = image;
  const natural = fit === "pad" ? Math.max(width, height * ratio) : Math.min(width, height * ratio);
  const most = Math.min(
    isVector(image) ? MAX_SIDE : natural,
    ...[MAX_SIDE, MAX_SIDE * ratio],
    // The height is rounded, so that a box of exactly this many pixels may have half a row more.
    Math.sqrt(maxPixels * ratio) - ratio / 4,
  );
  return Math.max(1, Math.floor(most));
}

/** Pixels of the widest rendition of the whole image, computed as the renderer does. */
function widestWhole(image: SizedImage, maxPixels: number): number {
  const { width, height } = image;
  const scale = Math.min(isVector(image) ? Number.POSITIVE_INFINITY : 1, MAX_SIDE / width, MAX_SIDE / height);
  const side = (length: number) => Math.max(1, Math.round(length * scale));
  if (side(width) * side(height) <= maxPixels) return side(width);
  const shrink = Math.sqrt(maxPixels / (width * height));
  return Math.min(side(width), Math.max(1, Math.floor(width * shrink)));
}
