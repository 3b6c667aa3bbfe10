import type { Size } from "../shared/fit.ts";
import { readGifBlocks } from "./gif-blocks.ts";
import { unreadable } from "./unreadable.ts";

/** What the blocks of a GIF declare. */
export interface GifStructure extends Size {
  frames: number;
}

/**
 * Walks the blocks of a GIF without decoding any. libvips reads a truncated GIF as a shorter one without a word, so
 * this is where a cut is noticed. A missing trailer is forgiven: every picture is whole, and many encoders omit it.
 * Throws `unsupported_media`.
 */
export function readGifStructure(bytes: Buffer): GifStructure {
  let frames = 0;
  for (const { kind } of readGifBlocks(bytes)) if (kind === "image") frames++;
  if (frames === 0) throw unreadable("image/gif", "it holds no picture");
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames };
}
