import type { OriginalType } from "@outrigger/core";
import sharp, { type Sharp } from "sharp";
import type { DecodedType } from "./conversions.ts";
import type { Size } from "./fit.ts";
import { readGifStructure } from "./gif-structure.ts";
import { tooManyPixels, unreadable } from "./unreadable.ts";
import type { PictureLimits } from "./wire.ts";

/** A picture whose header is read and within the limits, and whose pixels are not decoded yet. */
export interface Picture {
  /** One frame, upright. SVG: in user units, 72 to the inch. */
  readonly natural: Size;
  readonly frames: number;
  /**
   * A pipeline that begins with the upright pixels: all frames below each other if `animated`, else the first. An SVG
   * is drawn to be at most `drawnAs`.
   */
  decode(options?: { animated?: boolean; drawnAs?: Size }): Sharp;
}

/** What libvips calls each type. */
const loaderNames: Record<DecodedType, string> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
  "image/svg+xml": "svg",
};

/** User units that an SVG may declare: what librsvg can address. They cost nothing until it is drawn. */
const MAX_SVG_UNITS = 32_767 ** 2;

/** Reads the header. Rejects with `unsupported_media`: not of this type, damaged, or over a limit. */
export async function openPicture(bytes: Buffer, type: DecodedType, limits: PictureLimits): Promise<Picture> {
  if (bytes.length === 0) throw unreadable(type, "it is empty");
  if (type === "image/gif") checkGif(bytes, limits);
  const isSvg = type === "image/svg+xml";
  if (isSvg && bytes[0] === 0x1f) throw unreadable(type, "it is compressed");
  const options = { failOn: "warning", limitInputPixels: limits.maxPixels } as const;
  const header = sharp(bytes, {
    ...options,
    limitInputPixels: isSvg ? MAX_SVG_UNITS : limits.maxPixels,
    animated: type === "image/gif",
  });
  const metadata = await reading(type, limits, header.metadata());
  if (metadata.format !== loaderNames[type]) throw unreadable(type, `its bytes are ${metadata.format}`);
  const frames = metadata.pages ?? 1;
  if (frames > limits.maxFrames) throw unreadable(type, `it has more than ${limits.maxFrames} frames`);
  const natural = {
    width: metadata.autoOrient.width,
    height: metadata.pageHeight ?? metadata.autoOrient.height,
  };
  return {
    natural,
    frames,
    decode({ animated = false, drawnAs } = {}) {
      if (!isSvg) return sharp(bytes, { ...options, autoOrient: true, animated });
      // At its natural size a huge SVG is over the limit even if what is wanted of it is small.
      const wanted = (drawnAs?.width ?? natural.width) / natural.width;
      // But the shorter side of a long strip must not vanish.
      const scale = Math.min(1, Math.max(wanted, 1 / Math.min(natural.width, natural.height)));
      return sharp(bytes, { ...options, density: Math.max(1, 72 * scale) });
    },
  };
}

/** Awaits libvips. What it finds wrong with the bytes rejects with `unsupported_media`. */
export async function reading<T>(type: OriginalType, limits: PictureLimits, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.includes("exceeds pixel limit")) throw tooManyPixels(type, limits.maxPixels);
    if (message.includes("unsupported image format")) throw unreadable(type, "its bytes are something else");
    throw unreadable(type, clause(message), error);
  }
}

/** Before libvips sees it: a GIF of a few bytes may declare frames that cost a gigabyte. */
function checkGif(bytes: Buffer, limits: PictureLimits): void {
  const { width, height, frames } = readGifStructure(bytes);
  if (frames > limits.maxFrames) throw unreadable("image/gif", `it has more than ${limits.maxFrames} frames`);
  if (width * height * frames > limits.maxPixels) throw tooManyPixels("image/gif", limits.maxPixels);
}

/** The first line of what libvips says, fit to end a sentence. */
function clause(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line
    .replace("Input buffer has corrupt header: ", "")
    .replace(/^glib: XML parse error: .* of data: /, "its XML is broken: ")
    .slice(0, 200)
    .replace(/[.\s]+$/, "");
}
