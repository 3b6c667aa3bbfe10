import sharp from "sharp";
import type { PictureLimits } from "../shared/wire.ts";
import { readGifStructure } from "./gif-blocks.ts";
import { awaitLibvips } from "./libvips.ts";
import type { Picture } from "./picture.ts";
import { tooManyPixels, unreadable } from "./unreadable.ts";

/** The originals whose pixels libvips decodes. */
export type RasterType = "image/png" | "image/jpeg" | "image/gif";

/** The name of each type in libvips. */
const loaderNames: Record<RasterType, string> = {
  "image/png": "png",
  "image/jpeg": "jpeg",
  "image/gif": "gif",
};

/** Reads the header. Rejects with `unsupported_media`: not of this type, damaged, or over a limit. */
export async function openRaster(bytes: Buffer, type: RasterType, limits: PictureLimits): Promise<Picture> {
  if (bytes.length === 0) throw unreadable(type, "it is empty");
  if (type === "image/gif") checkGif(bytes, limits);
  const options = { failOn: "warning", limitInputPixels: limits.maxPixels } as const;
  const header = sharp(bytes, { ...options, animated: type === "image/gif" });
  const metadata = await awaitLibvips(type, limits, header.metadata());
  if (metadata.format !== loaderNames[type]) throw unreadable(type, `its bytes are ${metadata.format}`);
  const frames = metadata.pages ?? 1;
  if (frames > limits.maxFrames) throw unreadable(type, `it has more than ${limits.maxFrames} frames`);
  const { width, height } = metadata.autoOrient;
  return {
    natural: { width, height: metadata.pageHeight ?? height },
    frames,
    pages: frames,
    scalable: false,
    decode: async ({ animated = false } = {}) => sharp(bytes, { ...options, autoOrient: true, animated }),
  };
}

/** Checks a GIF before libvips reads it: a GIF of a few bytes can declare frames that take a gigabyte. */
function checkGif(bytes: Buffer, limits: PictureLimits): void {
  const { width, height, frames } = readGifStructure(bytes);
  if (frames > limits.maxFrames) throw unreadable("image/gif", `it has more than ${limits.maxFrames} frames`);
  if (width * height * frames > limits.maxPixels) throw tooManyPixels("image/gif", limits.maxPixels);
}
