import type { Size } from "@outrigger/core/images";
import { unreadable } from "../unreadable.ts";

const TYPE = "image/gif";
const EXTENSION = 0x21;
const IMAGE = 0x2c;
const TRAILER = 0x3b;

/** A block of a GIF after its screen and global colours. */
export interface GifBlock {
  kind: "extension" | "image" | "padding" | "trailer";
  start: number;
  end: number;
}

/**
 * Walks the blocks of a GIF up to its trailer or, without one, to the first byte that does not begin a block. Throws
 * `unsupported_media` for a file truncated within a block.
 *
 * Source: GIF89a specification, sections 18 to 27.
 * @param allowCut Instead of throwing, yield the truncated block, which ends beyond the file.
 */
export function* readGifBlocks(bytes: Buffer, { allowCut = false } = {}): Generator<GifBlock, void> {
  if (bytes.length < 13 || !/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) {
    throw unreadable(TYPE, "it has no GIF header");
  }
  let start = 13 + colourTableBytes(bytes.readUInt8(10));
  while (start < bytes.length) {
    const block = readBlock(bytes, start);
    if (block === null) return;
    if (block.end > bytes.length && !allowCut) throw unreadable(TYPE, "it is truncated");
    yield block;
    if (block.kind === "trailer") return;
    start = block.end;
  }
}

function readBlock(bytes: Buffer, start: number): GifBlock | null {
  switch (bytes[start]) {
    case EXTENSION:
      return { kind: "extension", start, end: skipSubBlocks(bytes, start + 2) };
    case IMAGE: {
      // Descriptor, colour table, and one byte for the minimum code size.
      const data = start + 10 + colourTableBytes(bytes[start + 9] ?? 0) + 1;
      return { kind: "image", start, end: skipSubBlocks(bytes, data) };
    }
    case 0:
      return { kind: "padding", start, end: start + 1 };
    case TRAILER:
      return { kind: "trailer", start, end: start + 1 };
    default:
      return null;
  }
}

/** Bytes of the colour table that the flags of a screen or a frame declare. */
export function colourTableBytes(flags: number): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0;
}

/** The position after the sub-blocks at `position` and their terminator; beyond the end of a truncated file. */
function skipSubBlocks(bytes: Buffer, position: number): number {
  let next = position;
  for (;;) {
    const length = bytes[next];
    next += (length ?? 0) + 1;
    if (length === undefined || length === 0) return next;
  }
}

/** The facts that the blocks of a GIF declare. */
export interface GifStructure extends Size {
  frames: number;
}

/**
 * Walks the blocks of a GIF without decoding any. libvips reads a truncated GIF as a shorter one without an error, so
 * truncation is detected here. A missing trailer is accepted: every picture is whole, and many encoders omit it.
 * Throws `unsupported_media`.
 */
export function readGifStructure(bytes: Buffer): GifStructure {
  let frames = 0;
  for (const { kind } of readGifBlocks(bytes)) if (kind === "image") frames++;
  if (frames === 0) throw unreadable(TYPE, "it holds no picture");
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames };
}
