import type { OriginalType, RenditionSpec, Size } from "@outrigger/core";
import sharp, { type Color, type Sharp } from "sharp";
import { type Placement, windowOf } from "../../shared/crop.ts";
import type { PictureLimits } from "../../shared/wire.ts";
import { readPixels } from "../libvips.ts";
import type { Picture } from "../picture.ts";

/** The part of a conversion that decides its pixels. */
interface Placed {
  picture: Picture;
  type: OriginalType;
  spec: Pick<RenditionSpec, "background">;
  animated: boolean;
  limits: PictureLimits;
}

/**
 * A pipeline that begins with the upright pixels of a rendition that shows a part of a picture, or more than it.
 * @param drawn Where the whole picture lies in `size`.
 * @param opaque Whether the pixels are written without transparency: bars are then white instead of transparent.
 */
export async function placedPixels(
  conversion: Placed,
  drawn: Placement,
  { size, opaque }: { size: Size; opaque: boolean },
): Promise<Sharp> {
  const { spec } = conversion;
  const window = windowOf(drawn, size);
  const part = await partOf(conversion, drawn, window);
  if (isSameSize(window, size)) return part;
  const background =
    spec.background === undefined ? (opaque ? "#ffffff" : TRANSPARENT) : `#${spec.background}`;
  return part.extend({ ...barsAround(drawn, size), background });
}

const TRANSPARENT: Color = { r: 0, g: 0, b: 0, alpha: 0 };

/** The pixels of a part of the picture drawn as `drawn`. */
async function partOf(conversion: Placed, drawn: Placement, window: Placement): Promise<Sharp> {
  const { picture, animated } = conversion;
  const isResized = !isSameSize(picture.natural, drawn);
  if (animated && isResized) return resizedFrames(conversion, drawn, window);
  const isCut = !isSameSize(window, drawn);
  const image = await picture.decode({ animated, drawnAs: drawn, ...(isCut ? { window } : {}) });
  if (isCut && picture.scalable) return image;
  const whole = resized(image, picture.natural, drawn);
  return isCut ? whole.extract(window) : whole;
}

/** Pixels of frames that are decoded at once: 4 bytes each. */
const STEP_PIXELS = 8_000_000;

/** A part of each frame of an animation. Resized together, frames would mix at their upper and lower edges. */
async function resizedFrames(
  { picture, type, limits }: Placed,
  drawn: Placement,
  window: Placement,
): Promise<Sharp> {
  const { natural, frames } = picture;
  const framePixels = natural.width * natural.height;
  const step = Math.max(1, Math.floor(STEP_PIXELS / framePixels));
  const parts: Buffer[] = [];
  for (let first = 0; first < frames; first += step) {
    const count = Math.min(step, frames - first);
    const image = await picture.decode({ animated: true, frames: { first, count } });
    const { pixels } = await readPixels(image.ensureAlpha(), type, limits);
    for (let index = 0; index < count; index++) {
      const bytes = pixels.subarray(index * framePixels * 4, (index + 1) * framePixels * 4);
      const frame = resized(sharp(bytes, { raw: { ...natural, channels: 4 } }), natural, drawn);
      parts.push((await readPixels(frame.extract(window), type, limits)).pixels);
    }
  }
  const { width, height } = window;
  return sharp(Buffer.concat(parts), {
    raw: { width, height: height * frames, channels: 4, pageHeight: height },
  });
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

export function isSameSize(a: Size, b: Size): boolean {
  return a.width === b.width && a.height === b.height;
}
