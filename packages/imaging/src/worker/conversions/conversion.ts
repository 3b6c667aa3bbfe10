import type { OriginalType, RenditionSpec, Size } from "@outrigger/core/images";
import sharp, { type Color, type Sharp } from "sharp";
import { type Placement, scaledPlacement, windowOf } from "../../shared/fit.ts";
import type { PictureLimits } from "../../shared/wire.ts";
import { readPixels } from "../libvips.ts";
import type { Picture } from "../picture.ts";
import { readFrameApart } from "../png/png-chunks.ts";
import { readPngCicp } from "../png/png-cicp.ts";

/** The conversion of one original to one rendition. */
export interface Conversion {
  /** The original file. */
  bytes: Buffer;
  type: OriginalType;
  picture: Picture;
  spec: RenditionSpec;
  /** Size of one frame of the rendition. */
  size: Size;
  /** Where the whole picture lies; `null`: it fills the rendition. */
  placed: Placement | null;
  /** Whether the rendition is animated. */
  animated: boolean;
  /** Whether `picture` is the edited pixels of the original, not the original itself. */
  isEdited: boolean;
  /** Pixels per point of a PDF page that holds them. @default 1 */
  pixelsPerPoint?: number;
  limits: PictureLimits;
}

/** Options of {@link uprightPixels}. */
interface PixelOptions {
  /** @default the size of the rendition */
  size?: Size;
  /** Whether the pixels are written without transparency: bars are then white instead of transparent. @default false */
  opaque?: boolean;
}

/** A pipeline that begins with the upright pixels of the rendition, cut and with its bars. */
export async function uprightPixels(
  conversion: Conversion,
  { size = conversion.size, opaque = false }: PixelOptions = {},
): Promise<Sharp> {
  const { picture, animated } = conversion;
  // libvips resizes an animation as one tall picture: neighbouring frames would mix at their edges.
  const isAlone = animated && !isSameSize(picture.natural, size);
  const placed = conversion.placed ?? (isAlone ? { ...conversion.size, left: 0, top: 0 } : null);
  const pixels =
    placed === null
      ? resized(await picture.decode({ animated, drawnAs: size }), picture.natural, size)
      : await placedPixels(conversion, scaledPlacement(placed, conversion.size, size), { size, opaque });
  const { background } = conversion.spec;
  if (background === undefined) return pixels;
  // Grey pixels would give grey bars.
  return pixels.pipelineColourspace("srgb").flatten({ background: `#${background}` });
}

/** Whether the rendition is the original at its natural size. */
export function keepsSize({ picture, size, placed, spec, isEdited }: Conversion): boolean {
  const isWhole = placed === null && spec.background === undefined;
  return !isEdited && isWhole && isSameSize(picture.natural, size);
}

/**
 * Whether a PNG or JPEG shows the same pixels in readers that ignore EXIF orientation, colour profiles, `cICP` and animations, as PDF and SVG readers do. Such a file is upright, grey or RGB, and sRGB.
 */
export async function isPlainRaster(bytes: Buffer): Promise<boolean> {
  const { format, orientation = 1, channels, space, icc } = await sharp(bytes).metadata();
  if (format === "png" && (readPngCicp(bytes) !== null || readFrameApart(bytes) !== null)) return false;
  return orientation === 1 && channels <= 4 && space !== "cmyk" && (icc === undefined || isSrgb(icc));
}

/**
 * Whether a profile is sRGB according to its description, which is ASCII in ICC.1 version 2 and UTF-16BE in version 4.
 */
function isSrgb(profile: Buffer): boolean {
  return profile.includes("sRGB") || profile.includes(Buffer.from("sRGB", "utf16le").swap16());
}

/**
 * A pipeline that begins with the upright pixels of a rendition that shows a part of a picture, or more than it.
 * @param drawn Where the whole picture lies in `size`.
 * @param opaque Whether the pixels are written without transparency: bars are then white instead of transparent.
 */
async function placedPixels(
  conversion: Conversion,
  drawn: Placement,
  { size, opaque }: { size: Size; opaque: boolean },
): Promise<Sharp> {
  const { picture, spec, animated } = conversion;
  const window = windowOf(drawn, size);
  const background =
    spec.background === undefined ? (opaque ? "#ffffff" : TRANSPARENT) : `#${spec.background}`;
  const extended = (part: Sharp) =>
    isSameSize(window, size) ? part : part.extend({ ...barsAround(drawn, size), background });
  if (!animated || isSameSize(picture.natural, drawn)) {
    return extended(await partOf(conversion, drawn, window));
  }
  const frames = await framesOf(conversion, (frame) =>
    extended(resized(frame, picture.natural, drawn).extract(window)),
  );
  const { width, height } = size;
  return sharp(frames, { raw: { width, height: height * picture.frames, channels: 4, pageHeight: height } });
}

const TRANSPARENT: Color = { r: 0, g: 0, b: 0, alpha: 0 };

/** The pixels of a part of the picture drawn as `drawn`. */
async function partOf(conversion: Conversion, drawn: Placement, window: Placement): Promise<Sharp> {
  const { picture, animated } = conversion;
  const isCut = !isSameSize(window, drawn);
  const image = await picture.decode({ animated, drawnAs: drawn, ...(isCut ? { window } : {}) });
  if (isCut && picture.scalable) return image;
  const whole = resized(image, picture.natural, drawn);
  return isCut ? whole.extract(window) : whole;
}

/** Pixels of frames that are decoded at once: 4 bytes each. */
const STEP_PIXELS = 8_000_000;

/**
 * The pixels of an animation's frames, each changed alone: resized together, frames would mix at their upper and lower edges,
 * and sharp does not know the frames of pixels without a file.
 */
async function framesOf(
  { picture, type, limits }: Conversion,
  change: (frame: Sharp) => Sharp,
): Promise<Buffer> {
  const { natural, frames } = picture;
  const framePixels = natural.width * natural.height;
  const step = Math.max(1, Math.floor(STEP_PIXELS / framePixels));
  const changed: Buffer[] = [];
  for (let first = 0; first < frames; first += step) {
    const count = Math.min(step, frames - first);
    const image = await picture.decode({ animated: true, frames: { first, count } });
    const { pixels } = await readPixels(image.ensureAlpha(), type, limits);
    for (let index = 0; index < count; index++) {
      const bytes = pixels.subarray(index * framePixels * 4, (index + 1) * framePixels * 4);
      const frame = sharp(bytes, { raw: { ...natural, channels: 4 } });
      changed.push((await readPixels(change(frame), type, limits)).pixels);
    }
  }
  return Buffer.concat(changed);
}

/** The image, resized unless it has the size. */
export function resized(image: Sharp, natural: Size, { width, height }: Size): Sharp {
  return isSameSize(natural, { width, height }) ? image : image.resize({ width, height, fit: "fill" });
}

/** The bars around a picture in a rendition of `size`. A side that is cut has none. */
function barsAround({ width, height, left, top }: Placement, size: Size) {
  const [before, above] = [Math.max(0, -left), Math.max(0, -top)];
  return {
    left: before,
    top: above,
    right: Math.max(0, size.width - width - before),
    bottom: Math.max(0, size.height - height - above),
  };
}

function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}
