import type { OriginalType, Quality, Size } from "@outrigger/core/images";
import sharp, { type Sharp } from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { awaitLibvips, type Pixels, readPixels } from "../libvips.ts";
import type { Picture } from "../picture.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";
import { sampleOf, similarityTo, WINDOW } from "./ssim.ts";
import { withGainMap } from "./with-gain-map.ts";

/** A rendition that libvips encodes. */
export async function toRaster(conversion: Conversion, format: EncodedFormat): Promise<Buffer> {
  const encoded = await encodedPixels(conversion, format, conversion.size);
  return format === "jpg" ? withGainMap(conversion, encoded) : encoded;
}

/** The pixels of a rendition at `size`, encoded. */
export async function encodedPixels(
  conversion: Conversion,
  format: EncodedFormat,
  size: Size,
): Promise<Buffer> {
  const { type, picture, spec, animated, limits } = conversion;
  const { quality = "high", background } = spec;
  const image = await uprightPixels(conversion, { size, opaque: format === "jpg" });
  const { timing } = picture;
  const pixels = size.width * size.height;
  const facts = { fromJpeg: type === "image/jpeg", animated, pixels, background, timing };
  if (quality === "auto" && isLossy(format)) {
    return encodeAutomatically(image, format, facts, { type, limits, size });
  }
  const encoded = encode(image, format, { ...facts, quality: quality === "auto" ? "high" : quality });
  return awaitLibvips(type, limits, encoded.toBuffer());
}

function isLossy(format: EncodedFormat): format is keyof typeof HIGH {
  return Object.hasOwn(HIGH, format);
}

/** The SSIM from which people see no difference. */
const ENOUGH = 0.98;
/** Encodes of a search, the one at `high` included. */
const MAX_ATTEMPTS = 4;
/** The lowest qualities. SSIM does not see colours, which suffer below. */
const LOWEST = { jpg: 45, webp: 40, avif: 30 } as const;

/** The original of a picture, for errors; and the size of one frame. */
interface Work {
  type: OriginalType;
  limits: PictureLimits;
  size: Size;
}

/**
 * Encodes a picture with `convert=auto`: in the lowest quality whose SSIM is at least that of `high`, or 0.98 if that is
 * lower. The search encodes only a sample of the picture, and never exceeds the quality of `high`.
 */
async function encodeAutomatically(
  image: Sharp,
  format: keyof typeof HIGH,
  facts: Omit<EncodeOptions, "quality">,
  { type, limits, size }: Work,
): Promise<Buffer> {
  const seen = format === "jpg" ? withoutTransparency(image, facts) : image;
  const picture = await readPixels(seen, type, limits);
  const sample = sampleOf(picture);
  const encodePixels = (pixels: Pixels, options: EncodeOptions) => {
    const { width, height, channels } = pixels;
    const pages = options.animated ? { pageHeight: size.height } : {};
    const encoded = encode(
      sharp(pixels.pixels, { raw: { width, height, channels, ...pages } }),
      format,
      options,
    );
    return awaitLibvips(type, limits, encoded.toBuffer());
  };
  const isWhole = sample.pixels === picture.pixels && !facts.animated;
  // Too small for a window of SSIM, and so for any gain.
  if (Math.min(sample.tileWidth, sample.tileHeight) < WINDOW) {
    return encodePixels(picture, { ...facts, quality: "high" });
  }
  const similarity = similarityTo(sample);
  const found = await findQuality({ lowest: LOWEST[format], high: HIGH[format] }, async (quality) => {
    const bytes = await encodePixels(sample, { ...facts, animated: false, quality });
    return { quality, bytes, similarity: similarity(await readOwn(bytes, format, { type, limits })) };
  });
  return isWhole ? found.bytes : encodePixels(picture, { ...facts, quality: found.quality });
}

/** The loaders of WebP and AVIF, which a worker blocks: no original has these types. */
const OWN_LOADERS = { jpg: [], webp: ["VipsForeignLoadWebpBuffer"], avif: ["VipsForeignLoadHeifBuffer"] };

/** Reads what this process has just encoded. Nothing else is read while its loader is not blocked. */
async function readOwn(
  bytes: Buffer,
  format: keyof typeof OWN_LOADERS,
  { type, limits }: Pick<Work, "type" | "limits">,
): Promise<Pixels> {
  const operation = OWN_LOADERS[format];
  sharp.unblock({ operation });
  try {
    return await readPixels(sharp(bytes), type, limits);
  } finally {
    sharp.block({ operation });
  }
}

/** A picture encoded in one quality. */
export interface Attempt {
  quality: number;
  /** SSIM. */
  similarity: number;
  bytes: Buffer;
}

/**
 * The attempt in the lowest quality found whose similarity is at least that of `high`, or {@link ENOUGH} if that is lower, and
 * that has no more bytes than those in higher qualities.
 */
export async function findQuality(
  { lowest, high }: { lowest: number; high: number },
  attempt: (quality: number) => Promise<Attempt>,
): Promise<Attempt> {
  let best = await attempt(high);
  // Any lower quality is less similar.
  if (best.similarity <= ENOUGH) return best;
  let failed: Attempt | undefined;
  let other: Attempt | undefined;
  for (let count = 1; count < MAX_ATTEMPTS; count++) {
    const floor = failed === undefined ? lowest : failed.quality + 1;
    if (best.quality <= floor) break;
    const predicted = Math.max(predict(best, other), floor);
    // After a miss from `high`, another one could be the last attempt and save nothing.
    const isCareful = failed !== undefined && best.quality === high;
    const quality = isCareful ? Math.ceil((2 * predicted + high) / 3) : predicted;
    const next = await attempt(Math.min(quality, best.quality - 1));
    if (next.similarity >= ENOUGH && next.bytes.length <= best.bytes.length) {
      other = failed ?? best;
      best = next;
    } else {
      failed = next;
      other = next;
    }
  }
  return best;
}

/** Predictions aim a little higher, because a miss costs more bytes than the difference. */
const AIM = 0.9802;
/** The slope in the coordinates of {@link logCoordinates} until it is measured: high, so that the first step is short. */
const USUAL_SLOPE = 2;
/** A little above the highest quality of encoders. */
const COARSEST = 105;

/** The quality that probably has the similarity {@link AIM}, by a line through two attempts, or through one. */
function predict(best: Attempt, other: Attempt | undefined): number {
  const [x, y] = logCoordinates(best);
  const [otherX, otherY] = other === undefined ? [x, y] : logCoordinates(other);
  const measured = (otherY - y) / (otherX - x);
  const slope = measured > 0 ? measured : USUAL_SLOPE;
  return Math.ceil(COARSEST - Math.exp(x + (Math.log(1 - AIM) - y) / slope));
}

/** Dissimilarity as an encoder's quality falls is almost a straight line in these coordinates. */
function logCoordinates({ quality, similarity }: Attempt): [x: number, y: number] {
  return [Math.log(COARSEST - quality), Math.log(Math.max(1 - similarity, 1e-6))];
}

/** The formats that libvips writes. */
type EncodedFormat = "png" | "jpg" | "gif" | "webp" | "avif";

/** The encoder's quality of the level `high`; WebP and AVIF have no other level. */
const HIGH = { jpg: 90, webp: 80, avif: 55 } as const satisfies Partial<Record<EncodedFormat, number>>;

/** The facts of a picture that decide its encoder settings. */
interface EncodeOptions {
  /** A level for `jpg`; or the encoder's own quality for `jpg`, `webp` and `avif`, with all other settings of `high`. */
  quality: Exclude<Quality, "auto"> | number;
  /** Whether the source is a JPEG, whose colour is already stored at half size: keeping more only costs bytes. */
  fromJpeg: boolean;
  animated: boolean;
  /** Pixels that will be written. */
  pixels: number;
  /** Colour below transparent parts where the format has no transparency. @default white */
  background?: string | undefined;
  /** Timing of an animation, which pixels that were changed frame by frame have lost. */
  timing?: Picture["timing"] | undefined;
}

/**
 * Ends a pipeline with the encoder of `format`. It writes 8-bit sRGB, without any metadata of the original.
 * For a visible change that stored renditions must get too, add an entry to `RAISED` in `build.ts`.
 */
function encode(image: Sharp, format: EncodedFormat, options: EncodeOptions): Sharp {
  const timing = options.animated ? options.timing : undefined;
  switch (format) {
    case "png":
      return image.png();
    case "jpg":
      // mozjpeg would save 6 % of the bytes but take ten times as long.
      return withoutTransparency(image, options).jpeg({
        ...jpegSettings(options),
        optimiseCoding: options.pixels <= JPEG_CAREFUL_PIXELS,
      });
    case "gif":
      // The default effort takes three times as long for no visible gain. Dithering makes animations flicker and grow.
      return options.animated
        ? image.gif({ effort: 3, dither: 0, keepDuplicateFrames: true, ...timing })
        : image.gif({ effort: 3, dither: 0.5 });
    case "webp":
      return image.webp({ quality: ownQuality(format, options), effort: 2, ...timing });
    case "avif":
      return image.avif({
        quality: ownQuality(format, options),
        effort: options.pixels <= AVIF_CAREFUL_PIXELS ? 3 : 1,
        chromaSubsampling: options.fromJpeg ? "4:2:0" : "4:4:4",
      });
  }
}

/** The picture as a format without transparency shows it. */
function withoutTransparency(image: Sharp, { background }: Pick<EncodeOptions, "background">): Sharp {
  return image.flatten({ background: `#${background ?? "ffffff"}` });
}

/** Up to this size, saving a seventh of the bytes is worth twice the time, at most half a second. */
const AVIF_CAREFUL_PIXELS = 1_000_000;

/**
 * Up to this size, saving 1 % of the bytes is worth a second pass over the coefficients, which takes 12 MB per
 * megapixel.
 */
const JPEG_CAREFUL_PIXELS = 12_500_000;

function ownQuality(format: "webp" | "avif", { quality }: EncodeOptions): number {
  return typeof quality === "number" ? quality : HIGH[format];
}

function jpegSettings({ quality, fromJpeg }: EncodeOptions): { quality: number; chromaSubsampling: string } {
  const chromaSubsampling = fromJpeg ? "4:2:0" : "4:4:4";
  switch (quality) {
    case "low":
      return { quality: 45, chromaSubsampling: "4:2:0" };
    case "medium":
      return { quality: 75, chromaSubsampling: "4:2:0" };
    case "high":
      return { quality: HIGH.jpg, chromaSubsampling };
    case "max":
      return { quality: 98, chromaSubsampling: "4:4:4" };
    default:
      return { quality, chromaSubsampling };
  }
}
