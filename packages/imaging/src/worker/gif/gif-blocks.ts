import type { Size } from "@outrigger/core/images";
import { damaged } from "../picture.ts";

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
    throw damaged("it has no whole header");
  }
  let start = 13 + colourTableBytes(bytes.readUInt8(10));
  while (start < bytes.length) {
    const block = readBlock(bytes, start);
    if (block === null) return;
    if (block.end > bytes.length && !allowCut) throw damaged("it ends within a frame");
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
function colourTableBytes(flags: number): number {
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

/**
 * Walks the blocks of a GIF without decoding any. libvips reads a truncated GIF as a shorter one without an error, so
 * truncation is detected here. A missing trailer is accepted: every picture is whole, and many encoders omit it.
 * Throws `unsupported_media`.
 */
export function readGifStructure(bytes: Buffer): Size & { frames: number } {
  let frames = 0;
  for (const { kind } of readGifBlocks(bytes)) if (kind === "image") frames++;
  if (frames === 0) throw damaged("it holds no picture");
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8), frames };
}

const GRAPHIC_CONTROL = 0xf9;
const PLAIN_TEXT = 0x01;
const FRAME_HEADER_BYTES = 10;
/** Data bytes of a sub-block at most. */
const SUB_BLOCK_BYTES = 255;

/** A frame of a GIF, with the graphic control before it. */
export interface GifFrame extends Size {
  left: number;
  top: number;
  /** Position of the graphic control; `null`: there is none. */
  control: number | null;
  /** Treatment of the frame before the next one; 2 clears its area. */
  disposal: number;
  isTransparent: boolean;
  /** The colour table, the frame's own or the global one. */
  colours: Buffer;
  minCodeBits: number;
  /** Position of the sub-blocks with the codes. */
  dataStart: number;
  end: number;
}

/** Groups blocks to frames. */
export function* readGifFrames(bytes: Buffer, blocks: Iterable<GifBlock>): Generator<GifFrame, void> {
  let control: number | null = null;
  for (const { kind, start, end } of blocks) {
    if (kind === "extension") {
      if (bytes[start + 1] === GRAPHIC_CONTROL && bytes[start + 2] === 4) control = start;
      else if (bytes[start + 1] === PLAIN_TEXT) control = null;
    } else if (kind === "image") {
      yield readFrame(bytes, start, end, control);
      control = null;
    }
  }
}

function readFrame(bytes: Buffer, start: number, end: number, control: number | null): GifFrame {
  const header = bytes.subarray(start, start + FRAME_HEADER_BYTES);
  const flags = header.readUInt8(9);
  const controlFlags = control === null ? 0 : (bytes[control + 3] ?? 0);
  const tableBytes = colourTableBytes(flags);
  const codeSize = start + 10 + tableBytes;
  const globalBytes = colourTableBytes(bytes.readUInt8(10));
  return {
    left: header.readUInt16LE(1),
    top: header.readUInt16LE(3),
    width: header.readUInt16LE(5),
    height: header.readUInt16LE(7),
    control,
    disposal: (controlFlags >> 2) & 7,
    isTransparent: (controlFlags & 1) === 1,
    colours: tableBytes > 0 ? bytes.subarray(start + 10, codeSize) : bytes.subarray(13, 13 + globalBytes),
    minCodeBits: bytes[codeSize] ?? 0,
    dataStart: codeSize + 1,
    end,
  };
}

/** The codes of a frame, without the lengths of their sub-blocks. */
export function joinSubBlocks(bytes: Buffer, { dataStart, end }: GifFrame): Buffer {
  const joined = Buffer.allocUnsafe(Math.max(0, end - dataStart));
  let written = 0;
  for (let at = dataStart; at < bytes.length; ) {
    const length = bytes.readUInt8(at);
    if (length === 0) break;
    written += bytes.copy(joined, written, at + 1, at + 1 + length);
    at += 1 + length;
  }
  return joined.subarray(0, written);
}

/** Codes in sub-blocks, with their terminator. */
export function splitSubBlocks(codes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < codes.length; at += SUB_BLOCK_BYTES) {
    const piece = codes.subarray(at, at + SUB_BLOCK_BYTES);
    pieces.push(Buffer.of(piece.length), piece);
  }
  return Buffer.concat([...pieces, Buffer.of(0)]);
}
