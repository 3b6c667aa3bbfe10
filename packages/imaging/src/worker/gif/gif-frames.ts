import type { Size } from "@outrigger/core/images";
import { colourTableBytes, type GifBlock } from "./gif-blocks.ts";

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
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  // Of a truncated file, maybe only a part.
  bytes.copy(header, 0, start);
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

/** The codes of a frame, without the lengths of their sub-blocks; as many as came of a truncated frame. */
export function joinSubBlocks(bytes: Buffer, { dataStart, end }: GifFrame): Buffer {
  const joined = Buffer.allocUnsafe(Math.max(0, Math.min(end, bytes.length) - dataStart));
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
