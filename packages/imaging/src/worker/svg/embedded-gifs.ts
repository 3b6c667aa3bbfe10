import { isServiceError } from "@outrigger/core";
import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { readGifStructure } from "../gif-blocks.ts";
import { awaitLibvips } from "../libvips.ts";
import { MAX_WRAPPED_BYTES } from "./wrap-raster.ts";

const START = 'href="data:image/gif;base64,';

/**
 * A clean document with each embedded GIF replaced by a PNG of its first frame, because sharp's librsvg draws no GIF. A
 * damaged GIF stays and is blank, and so do GIFs beyond the pixel limit of all together.
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

/** Pixels of the GIF's screen; infinite for a damaged GIF. */
function pixelsOf(gif: Buffer): number {
  try {
    const { width, height } = readGifStructure(gif);
    return width * height;
  } catch (error) {
    if (isServiceError(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}

/** The first frame as PNG; `null` if the GIF cannot be decoded or the PNG is longer than XML parsers accept. */
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
