import { crc32 } from "node:zlib";
import { unreadable } from "../picture.ts";

const TYPE = "image/png";
export const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** A chunk of a PNG. */
export interface PngChunk {
  type: string;
  start: number;
  /** Shorter than declared in a truncated file. */
  data: Buffer;
  /** Position after the checksum, or the end of a truncated file. */
  end: number;
}

/**
 * Walks the chunks up to IEND or to the end of a truncated file. Throws `unsupported_media` for bytes that are not a
 * PNG.
 */
export function* readPngChunks(bytes: Buffer): Generator<PngChunk, void> {
  if (!bytes.subarray(0, PNG_SIGNATURE.length).equals(PNG_SIGNATURE)) {
    throw unreadable(TYPE, "it has no PNG header");
  }
  let start = PNG_SIGNATURE.length;
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

/** Whether a chunk came whole and its checksum is right. */
export function isSound(bytes: Buffer, { start, data, end }: PngChunk): boolean {
  const declared = bytes.readUInt32BE(start);
  if (end - start !== declared + 12) return false;
  return crc32(bytes.subarray(start + 4, start + 8 + data.length)) === bytes.readUInt32BE(end - 4);
}

/** Whether a PNG comes to its end, and the checksums over the last quarter of its pixel data are right. */
export function hasSoundEnd(bytes: Buffer): boolean {
  let isWhole = false;
  const data: PngChunk[] = [];
  for (const chunk of readPngChunks(bytes)) {
    isWhole = chunk.type === "IEND";
    if (chunk.type === "IDAT") data.push(chunk);
  }
  const [first, last] = [data[0], data.at(-1)];
  if (!isWhole || first === undefined || last === undefined) return false;
  const lastQuarter = last.end - (last.end - first.start) / 4;
  return data.every((chunk) => chunk.end <= lastQuarter || isSound(bytes, chunk));
}

/** Whether a PNG has several frames (PNG 3, clause 11.3.6.1). */
export function isAnimatedPng(bytes: Buffer): boolean {
  for (const { type, data } of readPngChunks(bytes)) {
    if (type === "acTL") return data.length >= 8 && data.readUInt32BE(0) > 1;
    if (type === "IDAT") return false;
  }
  return false;
}

/** Whether decoders must not skip a chunk: the first letter of its type is upper case. */
export function isCritical(type: string): boolean {
  return (type.charCodeAt(0) & 0x20) === 0;
}

export function writePngChunk(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(12 + data.length);
  chunk.writeUInt32BE(data.length);
  chunk.write(type, 4, "latin1");
  data.copy(chunk, 8);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
