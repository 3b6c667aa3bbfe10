import { type GifBlock, readGifBlocks } from "../gif/gif-blocks.ts";
import { Edits } from "./edits.ts";

const TYPE = "image/gif";
const GRAPHIC_CONTROL = 0xf9;
const PLAIN_TEXT = 0x01;
const APPLICATION = 0xff;
const TRAILER = Buffer.of(0x3b);

/** Applications whose extensions hold the loop count or the colour profile. */
const essentialApplications = new Set(["NETSCAPE2.0", "ANIMEXTS1.0", "ICCRGBG1012"]);

/**
 * Removes from a GIF everything that does not affect its frames: comments, XMP and other application data, and
 * everything after its end. It keeps frames, timing, loop count, colour profile, and plain text extensions, which the
 * standard draws. The pieces share the memory of `bytes`; `null` when there is nothing to remove. Throws
 * `unsupported_media` for a truncated GIF.
 *
 * Source: GIF89a specification, sections 23 to 27.
 * @param options.allowCut Instead of throwing, keep a truncated frame.
 */
export function stripGif(bytes: Buffer, options: { allowCut?: boolean } = {}): readonly Buffer[] | null {
  const edits = new Edits(bytes, TYPE);
  let last: GifBlock | null = null;
  for (const block of readGifBlocks(bytes, options)) {
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
