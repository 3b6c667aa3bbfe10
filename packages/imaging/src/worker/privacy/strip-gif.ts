import { type GifBlock, readGifBlocks } from "../gif-blocks.ts";
import { Edits } from "./edits.ts";

const TYPE = "image/gif";
const GRAPHIC_CONTROL = 0xf9;
const PLAIN_TEXT = 0x01;
const APPLICATION = 0xff;
const TRAILER = Buffer.of(0x3b);

/** Applications whose extensions say how often an animation repeats, and in which colours it is. */
const essentialApplications = new Set(["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]);

/**
 * Takes out of a GIF whatever does not make its frames: comments, XMP and other applications' data, and everything
 * behind its end. Kept are frames, their timing, repetition, the colour profile, and plain text extensions, which by
 * the standard are drawn. The pieces share the memory of `bytes`; `null` when there is nothing to take out. Throws
 * `unsupported_media` for a GIF that is cut off.
 *
 * Source: GIF89a specification, sections 23 to 27.
 */
export function stripGif(bytes: Buffer): readonly Buffer[] | null {
  const edits = new Edits(bytes, TYPE);
  let last: GifBlock | null = null;
  for (const block of readGifBlocks(bytes)) {
    if (block.kind === "extension" && !isEssential(bytes, block)) edits.remove(block.start, block.end);
    last = block;
  }
  if (last?.kind === "trailer") edits.remove(last.end, bytes.length);
  else if (last !== null && last.end < bytes.length) edits.replace(last.end, bytes.length, TRAILER);
  return edits.apply();
}

function isEssential(bytes: Buffer, { start }: GifBlock): boolean {
  const label = bytes[start + 1];
  if (label !== APPLICATION) return label === GRAPHIC_CONTROL || label === PLAIN_TEXT;
  return (
    bytes[start + 2] === 11 && essentialApplications.has(bytes.toString("latin1", start + 3, start + 14))
  );
}
