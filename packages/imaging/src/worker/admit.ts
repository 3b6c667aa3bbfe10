import { isServiceError } from "@outrigger/core";
import type { Admission, ImageInfo, OriginalType, PictureLook, Size } from "@outrigger/core/images";
import sharp from "sharp";
import { fitInside } from "../shared/fit.ts";
import type { Kept, PictureLimits } from "../shared/wire.ts";
import { readPixels } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import { listPageSizes } from "./pdf/open-pdf.ts";
import { repairPdf } from "./pdf/repair-pdf.ts";
import type { Picture } from "./picture.ts";
import { hasSoundEnd } from "./png/png-chunks.ts";
import { stripMetadata } from "./privacy/strip-metadata.ts";
import { repairRaster } from "./repair/repair.ts";
import { cleanSvg } from "./svg/clean-svg.ts";
import { LOOK_SIDE, takeLook } from "./take-look.ts";

const THUMBNAIL = {
  maxWidth: LOOK_SIDE,
  maxHeight: LOOK_SIDE,
  maxSide: LOOK_SIDE,
  enlarge: false,
  maxPixels: LOOK_SIDE ** 2,
};
/** Pixels from which the look of a costly picture is read from a sample. */
const SAMPLED_PIXELS = 1_000_000;

/** `Renderer.admit`, in the worker. `cleaned` is the cleaned file in pieces, most of them parts of `bytes`. */
export async function admit(
  bytes: Buffer,
  type: OriginalType,
  kept: Kept,
  limits: PictureLimits,
): Promise<Omit<Admission, "cleaned"> & { cleaned: readonly Buffer[] | null }> {
  if (type === "image/svg+xml") {
    const clean = cleanSvg(bytes);
    const info = await decodeAll(clean, await openPicture(clean, type, limits), type, limits);
    return { ...info, cleaned: clean.equals(bytes) ? null : [clean] };
  }
  const { sound, info } = await readSound(bytes, type, limits);
  const pageSizes = info.pages > 1 && type === "application/pdf" ? await listPageSizes(sound) : null;
  const stripped = await stripMetadata(sound, type, kept);
  return {
    ...info,
    ...(pageSizes === null ? {} : { pageSizes }),
    cleaned: stripped ?? (sound === bytes ? null : [sound]),
  };
}

/** The bytes, or a repaired copy to store, so that renders and other programs need not repair it again. */
async function readSound(bytes: Buffer, type: OriginalType, limits: PictureLimits) {
  const sound = type === "application/pdf" ? await repairPdf(bytes) : bytes;
  try {
    return {
      sound,
      info: await decodeAll(sound, await openPicture(sound, type, limits), type, limits, true),
    };
  } catch (error) {
    const repaired = isServiceError(error, "unsupported_media")
      ? await repairRaster(bytes, type, limits)
      : null;
    if (repaired === null) throw error;
    return {
      sound: repaired,
      info: await decodeAll(repaired, await openPicture(repaired, type, limits), type, limits),
    };
  }
}

/** Decodes every pixel, as cheaply as possible, and returns the size and the look. */
async function decodeAll(
  bytes: Buffer,
  picture: Picture,
  type: OriginalType,
  limits: PictureLimits,
  strict = false,
): Promise<ImageInfo & PictureLook & { pages: number }> {
  const { natural, pages } = picture;
  const size = fitInside(natural, THUMBNAIL);
  const isLarge = natural.width * natural.height > SAMPLED_PIXELS;
  const isSampled = isLarge && picture.isCostly === true && hasSoundEnd(bytes);
  const pixels = isSampled
    ? await readSampled(picture, type, size, limits)
    : // A JPEG decodes directly to an eighth of its size, in a tenth of the time.
      await readPixels(
        (await picture.decode({ animated: true, drawnAs: size, strict })).resize({ ...size, fit: "fill" }),
        type,
        limits,
      );
  return { ...natural, pages, ...takeLook({ ...pixels, ...size }, isSampled) };
}

/**
 * Reads every eighth pixel of 64 to 127 rows. libvips decodes all rows above the last one that it reads, but converts
 * only those; converting all would take up to six times as long as decoding them. The checksums vouch for the rows below.
 */
async function readSampled(picture: Picture, type: OriginalType, size: Size, limits: PictureLimits) {
  const { width, height } = picture.natural;
  // Whole steps: libvips interpolates others, which is slow. Beyond 10 it reads pixels one by one.
  const across = Math.min(8, Math.max(1, Math.floor(width / LOOK_SIDE)));
  const down = Math.max(1, Math.floor(height / 64));
  const sampled = { width: Math.floor(width / across), height: Math.floor(height / down) };
  const region = { width: sampled.width * across, height: sampled.height * down };
  const image = (await picture.decode())
    .extract({ ...region, left: (width - region.width) >> 1, top: height - region.height })
    .resize({ ...sampled, fit: "fill", kernel: "nearest" });
  const { pixels, channels } = await readPixels(image, type, limits);
  const grid = sharp(pixels, { raw: { ...sampled, channels } });
  return readPixels(grid.resize({ ...size, fit: "fill" }), type, limits);
}
