import type { Quality, Size } from "@outrigger/core/images";
import type { Sharp } from "sharp";
import { awaitLibvips } from "../libvips.ts";
import type { Picture } from "../picture.ts";
import { type Conversion, uprightPixels } from "./conversion.ts";
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
  const fromJpeg = type === "image/jpeg";
  const encoded = encode(image, format, { quality, fromJpeg, animated, pixels, background, timing });
  return awaitLibvips(type, limits, encoded.toBuffer());
}

/** The formats that libvips writes. */
type EncodedFormat = "png" | "jpg" | "gif" | "webp" | "avif";

/** The facts of a picture that decide its encoder settings. */
interface EncodeOptions {
  /** Of a JPEG. */
  quality: Quality;
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
 * For a visible change that stored renditions must get too, raise `VERSION` in `renderer.ts`.
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
      return image.webp({ quality: 80, effort: 2, ...timing });
    case "avif":
      return image.avif({
        quality: 55,
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

function jpegSettings({ quality, fromJpeg }: EncodeOptions): { quality: number; chromaSubsampling: string } {
  switch (quality) {
    case "low":
      return { quality: 45, chromaSubsampling: "4:2:0" };
    case "medium":
      return { quality: 75, chromaSubsampling: "4:2:0" };
    case "max":
      return { quality: 98, chromaSubsampling: "4:4:4" };
    default:
      return { quality: 90, chromaSubsampling: fromJpeg ? "4:2:0" : "4:4:4" };
  }
}
