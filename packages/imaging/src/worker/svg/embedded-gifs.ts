import { isServiceError } from "@outrigger/core";
import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { readGifStructure } from "../gif-blocks.ts";
import { awaitLibvips } from "../libvips.ts";
import { MAX_WRAPPED_BYTES } from "./wrap-raster.ts";

const START = 'href="data:image/gif;base64,';

/**
 * A clean document with the first frame of each embedded GIF as PNG: librsvg, as sharp brings it, draws no GIF. One that
 * is damaged stays as it is and blank, and so does what would bring all together over the limit of pixels.
 */
export async function withGifsAsPngs(document: Buffer, limits: PictureLimits): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let drawnPixels = 0;
  let copied = 0;
  for (let at = document.indexOf(START); at >= 0; at = document.indexOf(START, copied)) {
    const start = at + START.length;
    const end = document.indexOf('"', start);
    const gif = Buffer.from(document.toString("latin1", start, end), "base64");
    const pixels = pixelsOf(gif);
    const png = drawnPixels + pixels <= limits.maxPixels ? await firstFrame(gif, limits) : null;
    if (png === null) {
      pieces.push(document.subarray(copied, end));
    } else {
      drawnPixels += pixels;
      const reference = `href="data:image/png;base64,${png.toString("base64")}`;
      pieces.push(document.subarray(copied, at), Buffer.from(reference));
    }
    copied = end;
  }
  return copied === 0 ? document : Buffer.concat([...pieces, document.subarray(copied)]);
}

/** Of its screen; more than any limit for one that is damaged. */
function pixelsOf(gif: Buffer): number {
  try {
    const { width, height } = readGifStructure(gif);
    return width * height;
  } catch (error) {
    if (isServiceError(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** `null` for one that cannot be decoded, or is longer as PNG than XML parsers take. */
async function firstFrame(gif: Buffer, limits: PictureLimits): Promise<Buffer | null> {
  const frame = sharp(gif, { failOn: "warning", limitInputPixels: limits.maxPixels });
  try {
    const png = await awaitLibvips("image/gif", limits, frame.png().toBuffer());
    return png.length > MAX_WRAPPED_BYTES ? null : png;
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}
