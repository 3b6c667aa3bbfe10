import type { Size } from "./fit.ts";
import { unreadable } from "./unreadable.ts";

const TYPE = "image/gif";
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** What the blocks of a GIF declare. */
export interface GifStructure extends Size {
  frames: number;
}

/**
 * Walks the blocks of a GIF without decoding any. libvips reads a truncated GIF as a shorter one without a word, so
 * this is where a cut is noticed. A missing trailer is forgiven: every picture is whole, and many encoders omit it.
 * Throws `unsupported_media`.
 *
 * Source: GIF89a specification, sections 18 to 27.
 */
export function readGifStructure(bytes: Buffer): GifStructure {
  if (bytes.length < 13 || !/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) {
    throw unreadable(TYPE, "it has no GIF header");
  }
  const structure = { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames: 0 };
  let position = 13 + colourTableBytes(bytes.readUInt8(10));
  while (position < bytes.length) {
    const introducer = bytes.readUInt8(position);
    if (introducer === TRAILER) break;
    if (introducer === EXTENSION) {
      position = skipSubBlocks(bytes, position + 2);
    } else if (introducer === IMAGE) {
      const flags = bytes[position + 9];
      if (flags === undefined) throw truncated();
      // Descriptor, colour table, and the one byte that says how wide the first codes are.
      position = skipSubBlocks(bytes, position + 10 + colourTableBytes(flags) + 1);
      structure.frames++;
    } else if (introducer === 0) {
      // Stray padding between blocks, which every decoder skips.
      position++;
    } else {
      // Anything after a whole picture is taken as the end, as decoders do.
      break;
    }
  }
  if (position > bytes.length) throw truncated();
  if (structure.frames === 0) throw unreadable(TYPE, "it holds no picture");
  return structure;
}

function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** The position after the sub-blocks at `position`, their terminator included. */
function skipSubBlocks(bytes: Buffer, position: number): number {
  let next = position;
  for (;;) {
    const length = bytes[next];
    if (length === undefined) throw truncated();
    next += length + 1;
    if (length === 0) return next;
  }
}

function truncated() {
  return unreadable(TYPE, "it is truncated");
}
