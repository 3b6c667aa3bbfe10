import type {
  Admission,
  ConvertibleType,
  ImageInfo,
  ImageWarning,
  OriginalType,
  PicturePreview,
  Size,
} from "@outrigger/core/images";
import { isServiceError, ServiceError } from "@outrigger/core/values";
import sharp from "sharp";
import { rgbaToThumbHash } from "thumbhash";
import { fitSquare } from "../shared/fit.ts";
import { type Kept, MAX_PIECES, type PictureLimits, type Piece } from "../shared/wire.ts";
import { convertUpload, isConvertible } from "./convert-upload.ts";
import { decodeAnyway, unusualForm } from "./damaged-raster.ts";
import { type Pixels, readPixels } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import { listPageSizes } from "./pdf/open-pdf.ts";
import { repairPdf } from "./pdf/repair-pdf.ts";
import { type Picture, unreadable } from "./picture.ts";
import { hasSoundEnd } from "./png/png-chunks.ts";
import { hasCredentials, stripMetadata } from "./privacy/strip-metadata.ts";
import { cleanUpload } from "./svg/clean-svg.ts";

/** Sides of the picture that {@link makePreview} reads. A ThumbHash holds at most seven waves per side. */
const PREVIEW_SIDE = 16;
/** Pixels from which the preview of a costly picture is read from a sample. */
const SAMPLED_PIXELS = 1_000_000;

type CleanedAdmission = Omit<Admission, "cleaned"> & { cleaned: readonly Buffer[] | null };

/** `Renderer.admit`, in the worker. `cleaned` is the cleaned file in pieces, most of them parts of `bytes`. */
export async function admit(
  bytes: Buffer,
  type: OriginalType | ConvertibleType,
  kept: Kept,
  limits: PictureLimits,
): Promise<CleanedAdmission> {
  const admission = await admitPicture(bytes, type, kept, limits);
  return hasCredentials(bytes, type) ? { ...admission, provenance: true } : admission;
}

async function admitPicture(
  bytes: Buffer,
  type: OriginalType | ConvertibleType,
  kept: Kept,
  limits: PictureLimits,
): Promise<CleanedAdmission> {
  if (isConvertible(type)) {
    const converted = await convertUpload(bytes, type, limits);
    const admission = await admitPicture(converted.bytes, converted.type, kept, limits);
    const { warnings } = converted;
    return {
      ...admission,
      cleaned: admission.cleaned ?? [converted.bytes],
      type: converted.type,
      ...(warnings.length === 0 ? {} : { warnings }),
    };
  }
  if (type === "image/svg+xml") {
    const { document: clean, lostText } = cleanUpload(bytes);
    const info = await decodeAll(clean, await openPicture(clean, type, limits), type, limits);
    return {
      ...info,
      ...(lostText ? { warnings: ["text_removed"] } : {}),
      cleaned: clean.equals(bytes) ? null : [clean],
    };
  }
  const { sound, info, isRepaired } = await readSound(bytes, type, kept, limits);
  const pageSizes = info.pages > 1 && type === "application/pdf" ? await listPageSizes(sound) : null;
  const stripped = await stripMetadata(sound, type, kept);
  const warnings: ImageWarning[] = isRepaired ? ["damage_repaired"] : [];
  // Its renditions show one frame.
  if (type === "image/png" && info.pages > 1) warnings.push("first_frame_only");
  if (stripped !== null && type !== "application/pdf") warnings.push("metadata_removed");
  return {
    ...info,
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(pageSizes === null ? {} : { pageSizes }),
    cleaned: stripped ?? (sound === bytes ? null : [sound]),
  };
}

/** MiB of the largest PDF. It is held five times while it is cleaned. */
const MAX_PDF_MIB = 48;

/** The PDF, repaired and within its limit. */
function soundPdf(bytes: Buffer): Promise<Buffer> {
  if (bytes.length > MAX_PDF_MIB * 1024 ** 2) {
    const size = `${(bytes.length / 1024 ** 2).toFixed(1)} MiB`;
    throw new ServiceError(
      "too_large",
      `A PDF may have at most ${MAX_PDF_MIB} MiB, and this one has ${size}.`,
    );
  }
  return repairPdf(bytes);
}

/** The bytes, or a copy to store of what can be read of a damaged file. */
async function readSound(bytes: Buffer, type: OriginalType, kept: Kept, limits: PictureLimits) {
  const sound = type === "application/pdf" ? await soundPdf(bytes) : bytes;
  try {
    const info = await decodeAll(sound, await openPicture(sound, type, limits), type, limits, true);
    return { sound, info, isRepaired: false };
  } catch (error) {
    if (!isServiceError(error, "unsupported_media")) throw error;
    const form = unusualForm(bytes, type);
    if (form !== null) throw unreadable(type, form, error);
    const decoded = await decodeAnyway(bytes, type, kept, limits);
    if (decoded === null) throw error;
    const info = await decodeAll(decoded, await openPicture(decoded, type, limits), type, limits);
    return { sound: decoded, info, isRepaired: true };
  }
}

/** Decodes every pixel, as cheaply as possible, and returns the size and the preview. */
async function decodeAll(
  bytes: Buffer,
  picture: Picture,
  type: OriginalType,
  limits: PictureLimits,
  strict = false,
): Promise<ImageInfo & PicturePreview & { pages: number }> {
  const { natural, pages } = picture;
  const size = fitSquare(natural, PREVIEW_SIDE);
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
  return { ...natural, pages, ...makePreview({ ...pixels, ...size }, isSampled) };
}

/**
 * Reads every eighth pixel of 64 to 127 rows. libvips decodes all rows above the last one that it reads, but converts
 * only those; converting all would take up to six times as long as decoding them. The checksums vouch for the rows below.
 */
async function readSampled(picture: Picture, type: OriginalType, size: Size, limits: PictureLimits) {
  const { width, height } = picture.natural;
  // Whole steps: libvips interpolates others, which is slow. Beyond 10 it reads pixels one by one.
  const across = Math.min(8, Math.max(1, Math.floor(width / PREVIEW_SIDE)));
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

/**
 * The preview of a picture, from its pixels at {@link PREVIEW_SIDE} or less per side.
 * @param isSample Whether the pixels may miss a transparent spot. An alpha channel then counts as transparency.
 */
function makePreview({ pixels, width, height, channels }: Pixels, isSample: boolean): PicturePreview {
  const rgba = channels === 4 ? pixels : withAlpha(pixels, width * height);
  const alpha = channels === 4 && (isSample || pixels.some((value, at) => at % 4 === 3 && value < 255));
  const placeholder = Buffer.from(rgbaToThumbHash(width, height, rgba)).toString("base64");
  const color = averageColor(rgba);
  return { placeholder, ...(color === null ? {} : { color }), alpha };
}

/** The average weighted by opacity. `null` for a picture that is wholly transparent. */
function averageColor(rgba: Buffer): string | null {
  const sums = [0, 0, 0];
  let weight = 0;
  for (let at = 0; at < rgba.length; at += 4) {
    const opacity = rgba[at + 3] ?? 0;
    weight += opacity;
    for (let channel = 0; channel < 3; channel++) {
      sums[channel] = (sums[channel] ?? 0) + (rgba[at + channel] ?? 0) * opacity;
    }
  }
  if (weight === 0) return null;
  const hex = sums.map((sum) =>
    Math.round(sum / weight)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${hex.join("")}`;
}

function withAlpha(rgb: Buffer, count: number): Buffer {
  const rgba = Buffer.alloc(count * 4, 255);
  for (let at = 0; at < count; at++) rgb.copy(rgba, at * 4, at * 3, at * 3 + 3);
  return rgba;
}

/**
 * Describes a cleaned file for the host, which has the source: most of it as ranges of the source, the rest as new
 * bytes.
 */
export function describePieces(source: Buffer, file: readonly Buffer[]): { pieces: Piece[]; bytes: Buffer } {
  const pieces: Piece[] = [];
  const added: Buffer[] = [];
  let addedBytes = 0;
  for (const part of file) {
    const start = startWithin(source, part);
    if (start === null) {
      append(pieces, ["reply", addedBytes, addedBytes + part.length]);
      added.push(part);
      addedBytes += part.length;
    } else append(pieces, ["source", start, start + part.length]);
  }
  if (pieces.length <= MAX_PIECES) return { pieces, bytes: Buffer.concat(added) };
  const bytes = Buffer.concat(file);
  return { pieces: [["reply", 0, bytes.length]], bytes };
}

/** Adds a piece, joined to the last one where it continues it. */
function append(pieces: Piece[], [of, start, end]: Piece): void {
  const last = pieces.at(-1);
  if (last?.[0] === of && last[2] === start) pieces[pieces.length - 1] = [of, last[1], end];
  else pieces.push([of, start, end]);
}

/** Where `part` begins in `source`; `null` if it has memory of its own. */
function startWithin(source: Buffer, part: Buffer): number | null {
  const start = part.byteOffset - source.byteOffset;
  const isPart = part.buffer === source.buffer && start >= 0 && start + part.length <= source.length;
  return isPart ? start : null;
}
