import { type GifFrame, joinSubBlocks, readGifBlocks, readGifFrames, splitSubBlocks } from "./gif-blocks.ts";
import { walkLzwCodes } from "./lzw-codes.ts";

/** A frame of one transparent pixel, with a graphic control and two colours of its own. */
const CLEAR_FRAME = Buffer.from("21f90401000000002c0000000001000100800000000000000202440100", "hex");
const TRAILER = Buffer.of(0x3b);
/** The disposal that clears a frame's area. */
const CLEARS = 2;
const COLOURS = 256;

/**
 * A GIF that libvips draws as browsers do: transparent wherever no frame has drawn, and after a frame that clears its
 * area. libvips draws both in the background colour, unless the frames have a transparent colour. Frames get one that
 * they do not use. A frame more, to be ignored, makes libvips decode the alpha channel at all.
 * @param animated Whether more frames than the first are decoded. @returns Also the number of frames to decode.
 */
export function withTransparentCanvas(bytes: Buffer, animated: boolean): { bytes: Buffer; frames: number } {
  const pieces: Buffer[] = [];
  let [frames, copied, end] = [0, 0, 0];
  let [hasTransparency, showsCanvas] = [false, false];
  let previous: GifFrame | null = null;
  for (const frame of readGifFrames(bytes, readGifBlocks(bytes))) {
    if (frames++ === 0) showsCanvas = !covers(bytes, frame);
    // The last frame has no successor to show its cleared area.
    if (animated && previous !== null && clearsOpaque(previous)) {
      pieces.push(bytes.subarray(copied, previous.control), withClearColour(bytes, previous));
      copied = previous.end;
    }
    hasTransparency ||= frame.isTransparent;
    end = frame.end;
    previous = frame;
  }
  if (pieces.length === 0 && (hasTransparency || !showsCanvas)) return { bytes, frames };
  return { bytes: Buffer.concat([...pieces, bytes.subarray(copied, end), CLEAR_FRAME, TRAILER]), frames };
}

/** Whether libvips would fill the area of a frame with the background colour. */
function clearsOpaque(frame: GifFrame): frame is GifFrame & { control: number } {
  return frame.control !== null && frame.disposal === CLEARS && !frame.isTransparent;
}

/** Whether a frame is as large as the canvas. */
function covers(bytes: Buffer, { left, top, width, height }: GifFrame): boolean {
  return left === 0 && top === 0 && width >= bytes.readUInt16LE(6) && height >= bytes.readUInt16LE(8);
}

/** A frame and its control, with a transparent colour that none of its pixels has. */
function withClearColour(bytes: Buffer, frame: GifFrame & { control: number }): Buffer {
  const { control, width, height, minCodeBits, colours, dataStart, end } = frame;
  const codes = joinSubBlocks(bytes, frame);
  const used = walkLzwCodes(codes, minCodeBits, width * height);
  const head = Buffer.from(bytes.subarray(control, dataStart));
  let data = bytes.subarray(dataStart, end);
  let free = used.lastIndexOf(0);
  if (free === -1) {
    const { from, to } = nearestColours(colours);
    walkLzwCodes(codes, minCodeBits, width * height, { from, to });
    data = splitSubBlocks(codes);
    free = from;
  }
  head.writeUInt8(head.readUInt8(3) | 1, 3);
  head.writeUInt8(free, 6);
  return Buffer.concat([head, data]);
}

/** The two colours of a full table that differ least: one of them can be given up. */
function nearestColours(colours: Buffer): { from: number; to: number } {
  let nearest = { from: 0, to: 0 };
  let least = Number.POSITIVE_INFINITY;
  for (let from = 1; from < COLOURS; from++) {
    for (let to = 0; to < from; to++) {
      let distance = 0;
      for (let channel = 0; channel < 3; channel++) {
        distance += ((colours[3 * from + channel] ?? 0) - (colours[3 * to + channel] ?? 0)) ** 2;
      }
      if (distance < least) [least, nearest] = [distance, { from, to }];
    }
  }
  return nearest;
}
