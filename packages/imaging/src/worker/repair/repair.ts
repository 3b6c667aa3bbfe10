import type { OriginalType } from "@outrigger/core/images";
import type { PictureLimits } from "../../shared/wire.ts";
import { joinSubBlocks, readGifBlocks, readGifFrames, splitSubBlocks } from "../gif/gif-blocks.ts";
import { endCodes, walkLzwCodes } from "../gif/lzw-codes.ts";
import { damaged, requireFrames, requireRows } from "../picture.ts";
import { isFrame, readJpegSegments } from "../privacy/jpeg-segments.ts";
import { repairJpeg } from "./repair-jpeg.ts";
import { repairPng } from "./repair-png.ts";

/**
 * Why a raster of its type cannot be read although it is whole: a form that few programs read. `null` for the usual
 * forms.
 */
export function unusualForm(bytes: Buffer, type: OriginalType): string | null {
  if (type === "image/png" && bytes.toString("latin1", 12, 16) === "CgBI") {
    return "it is in the form of PNG that Xcode makes for iPhone apps (CgBI)";
  }
  if (type !== "image/jpeg" || !hasSignature(bytes, type)) return null;
  for (const { marker, payload } of readJpegSegments(bytes)) {
    if (!isFrame(marker) || payload.length < 6) continue;
    const [precision = 8, components = 3] = [payload[0], payload[5]];
    if (precision !== 8) return `it has ${precision} bits per channel; 8 are supported`;
    if (![1, 3, 4].includes(components)) return `it has ${components} colour channels`;
    return marker > LAST_USUAL_FRAME ? "it is coded without loss, in a hierarchy or arithmetically" : null;
  }
  return null;
}

/** SOF2, a progressive frame (ITU-T T.81, table B.1). */
const LAST_USUAL_FRAME = 0xc2;

const SIGNATURES: Partial<Record<OriginalType, string>> = {
  "image/jpeg": "\xff\xd8",
  "image/png": "\x89PNG\r\n\x1a\n",
  "image/gif": "GIF8",
};

/**
 * A readable copy of a raster that libvips rejects or decodes with warnings, though browsers show it; `bytes` itself if
 * it needs no change; `null` if nothing can be repaired. Rejects with `unsupported_media` for a file that misses more
 * than a tenth of its rows.
 */
export async function repairRaster(
  bytes: Buffer,
  type: OriginalType,
  limits: PictureLimits,
): Promise<Buffer | null> {
  if (!hasSignature(bytes, type)) return null;
  switch (type) {
    case "image/jpeg":
      return repairJpeg(bytes, limits);
    case "image/png":
      return repairPng(bytes, limits);
    case "image/gif":
      return repairGif(bytes, limits);
    default:
      return null;
  }
}

/** Other bytes are a file of another type, not a damaged one. */
function hasSignature(bytes: Buffer, type: OriginalType): boolean {
  const signature = SIGNATURES[type];
  return signature !== undefined && bytes.toString("latin1", 0, signature.length) === signature;
}

const TYPE = "image/gif";
const TRAILER = Buffer.of(0x3b);

/**
 * A readable copy of a damaged GIF. Each truncated or damaged frame ends with its last valid code, and everything after
 * the last frame is dropped. Throws `unsupported_media` when too many rows of such a frame are missing.
 */
function repairGif(bytes: Buffer, limits: PictureLimits): Buffer {
  const pieces: Buffer[] = [];
  let [copied, count, end] = [0, 0, 0];
  for (const frame of readGifFrames(bytes, readGifBlocks(bytes, { allowCut: true }))) {
    requireFrames(TYPE, ++count, limits);
    const { width, height, minCodeBits, dataStart } = frame;
    end = Math.min(frame.end, bytes.length);
    const codes = joinSubBlocks(bytes, frame);
    const walked = walkLzwCodes(codes, minCodeBits, width * height);
    if (walked.isEnded && frame.end <= bytes.length) continue;
    const came =
      walked.isEnded && dataStart <= bytes.length ? height : Math.floor(walked.pixels / Math.max(1, width));
    // A frame without a size may have a truncated header.
    requireRows(came, Math.max(1, height), `the rows of frame ${count}`);
    pieces.push(bytes.subarray(copied, dataStart), splitSubBlocks(endCodes(codes, minCodeBits, walked)));
    copied = end;
  }
  if (count === 0) throw damaged("it holds no picture");
  return Buffer.concat([...pieces, bytes.subarray(copied, end), TRAILER]);
}
