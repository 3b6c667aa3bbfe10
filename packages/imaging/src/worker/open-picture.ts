import type { OriginalType } from "@outrigger/core/images";
import { isServiceError } from "@outrigger/core/values";
import sharp, { type Metadata, type Sharp, type SharpOptions } from "sharp";
import type { PictureLimits } from "../shared/wire.ts";
import { readGifStructure } from "./gif/gif-blocks.ts";
import { withTransparentCanvas } from "./gif/transparent-gif.ts";
import { awaitLibvips } from "./libvips.ts";
import { openPdf } from "./pdf/open-pdf.ts";
import {
  type DecodeOptions,
  damaged,
  type Picture,
  requireFrames,
  tooManyPixels,
  unreadable,
} from "./picture.ts";
import { countPngFrames, readFrameApart } from "./png/png-chunks.ts";
import { readPngCicp, withCicpProfile } from "./png/png-cicp.ts";
import { hasJpegEnd } from "./privacy/jpeg-segments.ts";
import { openPsd } from "./psd/open-psd.ts";
import { openSvg } from "./svg/open-svg.ts";

/**
 * Reads the header of an original. An SVG must be cleaned before. `page` is a page of a PDF, from 1.
 *
 * Rejects with `unsupported_media` (not of this type, damaged, or over a limit) and with `bad_request` for a page that
 * the document does not have.
 */
export async function openPicture(
  bytes: Buffer,
  type: OriginalType,
  limits: PictureLimits,
  page = 1,
): Promise<Picture> {
  switch (type) {
    case "image/svg+xml":
      return openSvg(bytes, limits);
    case "image/x-photoshop":
      return openPsd(bytes, limits);
    case "application/pdf":
      return openPdf(bytes, { page, maxPixels: limits.maxOutputPixels });
    default:
      return openRaster(bytes, type, limits);
  }
}

/** The originals whose pixels libvips decodes. */
type RasterType = "image/png" | "image/jpeg" | "image/gif";

/** The name of each type in libvips. */
const loaderNames: Record<RasterType, string> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
};

/** Reads the header. Rejects with `unsupported_media`: not of this type, damaged, or over a limit. */
async function openRaster(bytes: Buffer, type: RasterType, limits: PictureLimits): Promise<Picture> {
  if (bytes.length === 0) throw unreadable(type, "it is empty");
  if (type === "image/gif") checkGif(bytes, limits);
  const options = { failOn: "error", limitInputPixels: limits.maxPixels } as const;
  const header = sharp(bytes, { ...options, animated: type === "image/gif" });
  const metadata = await awaitLibvips(type, limits, header.metadata());
  if (metadata.format !== loaderNames[type]) throw unreadable(type, `its bytes are ${metadata.format}`);
  const frames = metadata.pages ?? 1;
  requireFrames(type, frames, limits);
  const { width, height } = metadata.autoOrient;
  return {
    natural: { width, height: metadata.pageHeight ?? height },
    frames,
    pages: type === "image/png" ? countPngFrames(bytes) : frames,
    scalable: false,
    isCostly:
      type === "image/png" && (metadata.hasAlpha || metadata.hasProfile || readPngCicp(bytes) !== null),
    ...(frames > 1 ? { timing: timingOf(metadata) } : {}),
    decode: (wanted = {}) =>
      decodeRaster(bytes, type, { ...wanted, metadata, limits }, { ...options, autoOrient: true }),
  };
}

/** What encoders accept at most as a count of plays and as a delay in milliseconds. */
const MAX_TIMING = 65_535;

/** libvips counts plays, of which a GIF can have 65,536, and some writers mean "for ever" by that. */
export function timingOf({ delay = [], loop = 0 }: Metadata): Picture["timing"] & {} {
  return {
    delay: delay.map((each) => Math.min(Math.max(0, each), MAX_TIMING)),
    loop: loop > MAX_TIMING ? 0 : loop,
  };
}

type Header = { metadata: Metadata; limits: PictureLimits };

async function decodeRaster(
  bytes: Buffer,
  type: RasterType,
  { animated = false, strict = false, frames, ...header }: DecodeOptions & Header,
  options: SharpOptions,
): Promise<Sharp> {
  if (type === "image/gif") {
    const gif = withTransparentCanvas(bytes, animated);
    const { first, count } = frames ?? { first: 0, count: animated ? gif.frames : 1 };
    return sharp(gif.bytes, { ...options, page: first, pages: count });
  }
  if (type === "image/png") {
    return (await decodeFrameApart(bytes, header, options)) ?? decodePng(bytes, header, options);
  }
  // libjpeg notices a missing end only when it happens to read so far.
  if (strict && !hasJpegEnd(bytes)) throw damaged();
  return sharp(bytes, strict ? { ...options, failOn: "warning" } : options);
}

/** `null` where the picture itself stands in: without a {@link readFrameApart}, and for a damaged one. */
async function decodeFrameApart(bytes: Buffer, header: Header, options: SharpOptions) {
  const apart = readFrameApart(bytes);
  if (apart === null) return null;
  try {
    // The bars lie around the frame before it is turned.
    const frame = await decodePng(apart.png, header, { ...options, autoOrient: false });
    const canvas = frame.ensureAlpha().extend({ ...apart.bars, background: { r: 0, g: 0, b: 0, alpha: 0 } });
    const png = canvas.keepExif().png({ compressionLevel: 1 }).toBuffer();
    return sharp(await awaitLibvips("image/png", header.limits, png), options);
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}

async function decodePng(bytes: Buffer, header: Header, options: SharpOptions): Promise<Sharp> {
  const cicp = readPngCicp(bytes);
  const profiled = cicp && awaitLibvips("image/png", header.limits, withCicpProfile(bytes, cicp, options));
  const image = sharp((await profiled) ?? bytes, options);
  const { icc, space } = header.metadata;
  const hasProfile = cicp !== null || icc !== undefined;
  const isDeep = space === "rgb16" || cicp?.depth === 16;
  // Without this, sharp converts colours of 16 bits to Display P3 and then takes them for sRGB.
  return hasProfile && isDeep ? image.withIccProfile("srgb", { attach: false }) : image;
}

/** Checks a GIF before libvips reads it: a GIF of a few bytes can declare frames that take a gigabyte. */
function checkGif(bytes: Buffer, limits: PictureLimits): void {
  const { width, height, frames } = readGifStructure(bytes);
  requireFrames("image/gif", frames, limits);
  if (width * height * frames > limits.maxPixels) throw tooManyPixels("image/gif", limits.maxPixels);
}
