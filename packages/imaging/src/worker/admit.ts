import { type Admission, isServiceError, type OriginalType } from "@outrigger/core";
import type { Sharp } from "sharp";
import { fitInside } from "../shared/fit.ts";
import type { Kept, PictureLimits } from "../shared/wire.ts";
import { awaitLibvips } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import { listPageSizes } from "./pdf/open-pdf.ts";
import { repairPdf } from "./pdf/repair-pdf.ts";
import type { Picture } from "./picture.ts";
import { stripMetadata } from "./privacy/strip-metadata.ts";
import { repairRaster } from "./repair/repair.ts";
import { cleanSvg } from "./svg/clean-svg.ts";

const THUMBNAIL = { maxWidth: 16, maxHeight: 16, enlarge: false, maxSide: 16, maxPixels: 256 };

/** `Renderer.admit`, in the worker. `cleaned` is the cleaned file in pieces, most of them parts of `bytes`. */
export async function admit(
  bytes: Buffer,
  type: OriginalType,
  kept: Kept,
  limits: PictureLimits,
): Promise<Omit<Admission, "cleaned"> & { cleaned: readonly Buffer[] | null }> {
  if (type === "image/svg+xml") {
    const clean = cleanSvg(bytes);
    const info = await decodeAll(await openPicture(clean, type, limits), type, limits);
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
    return { sound, info: await decodeAll(await openPicture(sound, type, limits), type, limits, true) };
  } catch (error) {
    const repaired = isServiceError(error, "unsupported_media")
      ? await repairRaster(bytes, type, limits)
      : null;
    if (repaired === null) throw error;
    return {
      sound: repaired,
      info: await decodeAll(await openPicture(repaired, type, limits), type, limits),
    };
  }
}

/** Decodes every pixel, as cheaply as possible, and returns the size. */
async function decodeAll(picture: Picture, type: OriginalType, limits: PictureLimits, strict = false) {
  await awaitLibvips(type, limits, (await cheapestDecode(picture, type, strict)).raw().toBuffer());
  return { ...picture.natural, pages: picture.pages };
}

/** The cheapest pipeline that reads every byte of pixels, and so finds a fault anywhere. */
async function cheapestDecode(picture: Picture, type: OriginalType, strict: boolean): Promise<Sharp> {
  if (type === "image/png") {
    // Decoding the last row decodes all rows before it; shrinking them would cost a quarter more.
    const { width, height } = picture.natural;
    return (await picture.decode({ strict })).extract({ left: 0, top: height - 1, width, height: 1 });
  }
  // A JPEG decodes directly to an eighth of its size, in a tenth of the time.
  const size = fitInside(picture.natural, THUMBNAIL);
  return (await picture.decode({ animated: true, drawnAs: size, strict })).resize({ ...size, fit: "fill" });
}
