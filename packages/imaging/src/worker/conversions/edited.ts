import type { PictureEdits, Size, Watermark } from "@outrigger/core/images";
import { isServiceError } from "@outrigger/core/values";
import sharp, { type Sharp } from "sharp";
import { clamp, fitInside, type Placement } from "../../shared/fit.ts";
import { isScalable } from "../../shared/measure.ts";
import type { PictureLimits } from "../../shared/wire.ts";
import { type Pixels, readPixels } from "../libvips.ts";
import { openPicture } from "../open-picture.ts";
import { PIXELS_PER_POINT } from "../pdf/open-pdf.ts";
import { type Conversion, resized, uprightPixels } from "./conversion.ts";

/** Applies the edits of a spec. Returns the conversion of the edited pixels to the same format, in the size that results. */
export async function edited(conversion: Conversion): Promise<Conversion> {
  const { edits, ...spec } = conversion.spec;
  if (edits === undefined) return conversion;
  const { type, picture, animated, limits } = conversion;
  const frames = animated ? picture.frames : 1;
  const { pixels, ...all } = await readPixels(await uprightPixels(conversion), type, limits);
  const before = { ...all, height: all.height / frames };
  const [width, height] = isQuarterTurn(edits.rotate)
    ? [before.height, before.width]
    : [before.width, before.height];
  const size = { width, height };
  const mark = edits.watermark === undefined ? null : await drawWatermark(edits.watermark, size, limits);
  const frameBytes = pixels.length / frames;
  const changed: Buffer[] = [];
  for (let index = 0; index < frames; index++) {
    const frame = pixels.subarray(index * frameBytes, (index + 1) * frameBytes);
    const image = changedFrame({ ...before, pixels: frame }, edits, mark);
    changed.push((await readPixels(image, type, limits)).pixels);
  }
  const [only = Buffer.alloc(0)] = changed;
  const bytes = frames === 1 ? only : Buffer.concat(changed);
  const pages = frames === 1 ? {} : { pageHeight: height };
  const raw = { width, height: height * frames, channels: all.channels, ...pages };
  return {
    ...conversion,
    spec,
    // A vector has become pixels.
    type: isScalable(type) ? "image/png" : type,
    picture: {
      natural: size,
      frames,
      pages: frames,
      scalable: false,
      ...(picture.timing === undefined ? {} : { timing: picture.timing }),
      decode: async () => sharp(bytes, { raw }),
    },
    size,
    placed: null,
    isEdited: true,
    ...(type === "application/pdf" ? { pixelsPerPoint: PIXELS_PER_POINT } : {}),
  };
}

function isQuarterTurn(rotate: PictureEdits["rotate"]): boolean {
  return rotate === 90 || rotate === 270;
}

function changedFrame(
  { pixels, width, height, channels }: Pixels,
  { rotate }: PictureEdits,
  mark: DrawnWatermark | null,
): Sharp {
  const image = sharp(pixels, { raw: { width, height, channels } });
  if (rotate !== undefined) image.rotate(rotate);
  if (mark === null) return image;
  const { pixels: input, left, top, ...raw } = mark;
  const marked = image.composite([{ input, raw, left, top }]);
  return channels === 3 ? marked.removeAlpha() : marked;
}

/** The pixels of a watermark, and where they begin in the picture. */
type DrawnWatermark = Pixels & Pick<Placement, "left" | "top">;

/** Draws a watermark for a picture of `size`. Rejects with an `Error`: the host chose it, and the picture has no fault. */
async function drawWatermark(
  { image, type, at, width, opacity, margin }: Watermark,
  size: Size,
  limits: PictureLimits,
): Promise<DrawnWatermark> {
  const edge = Math.round(margin * Math.min(size.width, size.height));
  try {
    const picture = await openPicture(Buffer.from(image, "base64"), type, limits);
    const room = { width: Math.max(1, size.width - 2 * edge), height: Math.max(1, size.height - 2 * edge) };
    const drawn = fitInside(picture.natural, {
      maxWidth: clamp(Math.round(width * size.width), 1, room.width),
      maxHeight: room.height,
      enlarge: true,
      maxSide: limits.maxSide,
      maxPixels: limits.maxOutputPixels,
    });
    const decoded = await picture.decode({ drawnAs: drawn });
    const mark = await readPixels(resized(decoded, picture.natural, drawn).ensureAlpha(), type, limits);
    for (let alpha = 3; alpha < mark.pixels.length; alpha += 4) {
      mark.pixels[alpha] = Math.round((mark.pixels[alpha] ?? 0) * opacity);
    }
    return { ...mark, ...watermarkCorner(at, drawn, size, edge) };
  } catch (error) {
    if (!isServiceError(error, "unsupported_media")) throw error;
    throw new Error(`The watermark cannot be drawn. ${error.message}`, { cause: error });
  }
}

function watermarkCorner(
  at: Watermark["at"],
  mark: Size,
  size: Size,
  edge: number,
): Pick<Placement, "left" | "top"> {
  const offset = (room: number, isFirst: boolean, isLast: boolean) =>
    isFirst ? Math.min(edge, room) : isLast ? Math.max(0, room - edge) : Math.floor(room / 2);
  return {
    left: offset(size.width - mark.width, at.endsWith("west"), at.endsWith("east")),
    top: offset(size.height - mark.height, at.startsWith("north"), at.startsWith("south")),
  };
}
