import { crc32 } from "node:zlib";
import { unreadable } from "../unreadable.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";

const TYPE = "image/png";
const SIGNATURE = "\x89PNG\r\n\x1a\n";

/** Ancillary chunks for appearance, colour and animation. Two had another spelling in drafts. */
const essentials = new Set([
  ...["tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "bKGD", "hIST"],
  ...["pHYs", "sPLT", "acTL", "fcTL", "fdAT"],
]);

interface Chunk {
  type: string;
  start: number;
  data: Buffer;
  end: number;
}

/**
 * Removes from a PNG everything that does not affect its pixels: EXIF, texts (including XMP and old raw profiles), the
 * time, private chunks, and everything after its end. It keeps critical chunks, transparency, colour, density and
 * animation. EXIF with an orientation is reduced to that. The pieces share the memory of `bytes`; `null` when there is
 * nothing to remove. Throws `unsupported_media` for bytes that are not a PNG.
 *
 * Source: PNG specification, third edition, sections 5 and 11.
 */
export function stripPng(bytes: Buffer): readonly Buffer[] | null {
  if (bytes.toString("latin1", 0, 8) !== SIGNATURE) throw unreadable(TYPE, "it has no PNG header");
  const edits = new Edits(bytes, TYPE);
  let position = SIGNATURE.length;
  for (const { type, start, data, end } of readChunks(bytes)) {
    position = end;
    const orientation = type === "eXIf" ? readExifOrientation(data) : 1;
    if (orientation !== 1) edits.replace(start, end, writeChunk("eXIf", writeExifOrientation(orientation)));
    else if (!isCritical(type) && !essentials.has(type)) edits.remove(start, end);
  }
  edits.remove(position, bytes.length);
  return edits.apply();
}

/** Walks the chunks up to IEND or to the end of a truncated file. */
function* readChunks(bytes: Buffer): Generator<Chunk, void> {
  let start = SIGNATURE.length;
  while (start + 8 <= bytes.length) {
    const dataStart = start + 8;
    const dataEnd = dataStart + bytes.readUInt32BE(start);
    const type = bytes.toString("latin1", start + 4, dataStart);
    const end = Math.min(dataEnd + 4, bytes.length);
    yield { type, start, data: bytes.subarray(dataStart, dataEnd), end };
    if (type === "IEND") return;
    start = end;
  }
}

/** Whether decoders must not skip a chunk: the first letter of its type is upper case. */
function isCritical(type: string): boolean {
  return (type.charCodeAt(0) & 0x20) === 0;
}

function writeChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
