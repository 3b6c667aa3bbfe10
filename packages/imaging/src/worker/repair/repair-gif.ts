import type { PictureLimits } from "../../shared/wire.ts";
import { readGifBlocks } from "../gif/gif-blocks.ts";
import { joinSubBlocks, readGifFrames, splitSubBlocks } from "../gif/gif-frames.ts";
import { endCodes, walkLzwCodes } from "../gif/lzw-codes.ts";
import { unreadable } from "../unreadable.ts";
import { requireRows } from "./missing-rows.ts";

const TYPE = "image/gif";
const TRAILER = Buffer.of(0x3b);

/**
 * A readable copy of a damaged GIF. Each truncated or damaged frame ends with its last valid code, and everything after
 * the last frame is dropped. Throws `unsupported_media` when too many rows of such a frame are missing.
 */
export function repairGif(bytes: Buffer, limits: PictureLimits): Buffer {
  const pieces: Buffer[] = [];
  let [copied, count, end] = [0, 0, 0];
  for (const frame of readGifFrames(bytes, readGifBlocks(bytes, { allowCut: true }))) {
    if (++count > limits.maxFrames) throw unreadable(TYPE, `it has more than ${limits.maxFrames} frames`);
    const { width, height, minCodeBits, dataStart } = frame;
    end = Math.min(frame.end, bytes.length);
    const codes = joinSubBlocks(bytes, frame);
    const walked = walkLzwCodes(codes, minCodeBits, width * height);
    if (walked.isEnded && frame.end <= bytes.length) continue;
    requireRows(TYPE, {
      came:
        walked.isEnded && dataStart <= bytes.length ? height : Math.floor(walked.pixels / Math.max(1, width)),
      // A frame without a size may have a truncated header.
      of: Math.max(1, height),
      isTruncated: frame.end > bytes.length,
      what: `the rows of frame ${count}`,
    });
    pieces.push(bytes.subarray(copied, dataStart), splitSubBlocks(endCodes(codes, minCodeBits, walked)));
    copied = end;
  }
  if (count === 0) throw unreadable(TYPE, "it holds no picture");
  return Buffer.concat([...pieces, bytes.subarray(copied, end), TRAILER]);
}
