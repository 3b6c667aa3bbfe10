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

/** Whether a chunk is sound, or of an animation: its parts are numbered, so that without one the others are lost. */
export function isKept(bytes: Buffer, chunk: PngChunk): boolean {
  return /^(?:acTL|fcTL|fdAT)$/.test(chunk.type) || isSound(bytes, chunk);
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

/** Frames of an animated PNG, else 1 (PNG 3, clause 4.9). */
export function countPngFrames(bytes: Buffer): number {
  let [declared, found] = [1, 0];
  for (const { type, data } of readPngChunks(bytes)) {
    if (type === "acTL" && data.length >= 8) declared = data.readUInt32BE(0);
    else if (type === "IDAT" && declared === 1) return 1;
    else if (type === "fcTL") found += 1;
  }
  return Math.max(1, Math.min(declared, found));
}

/**
 * The first frame of an animated PNG whose own picture is not part of the animation, so that browsers do not show it; with the bars
 * around it. `null` for any other PNG (PNG 3, clauses 4.9 and 11.3.6).
 */
export function readFrameApart(bytes: Buffer) {
  const head: Buffer[] = [];
  const frame: Buffer[] = [];
  let canvas: Buffer = Buffer.alloc(0);
  let control: Buffer | null = null;
  let [isAnimated, isPast] = [false, false];
  for (const { type, start, end, data } of readPngChunks(bytes)) {
    if (type === "IDAT") isPast = true;
    if (isPast && !isAnimated) return null;
    if (type === "fcTL") {
      if (!isPast) return null;
      if (control !== null) break;
      control = data;
    } else if (type === "IHDR") canvas = data;
    else if (type === "acTL") isAnimated = true;
    else if (type === "fdAT" && control !== null) frame.push(writePngChunk("IDAT", data.subarray(4)));
    else if (!isPast) head.push(bytes.subarray(start, end));
  }
  if (control === null || control.length < 20 || canvas.length !== 13) return null;
  const [width = 0, height = 0, left = 0, top = 0] = [4, 8, 12, 16].map((at) => control.readUInt32BE(at));
  const [right, bottom] = [canvas.readUInt32BE(0) - left - width, canvas.readUInt32BE(4) - top - height];
  if (Math.min(right, bottom) < 0) return null;
  const header = writePngChunk("IHDR", Buffer.concat([control.subarray(4, 12), canvas.subarray(8)]));
  const png = [PNG_SIGNATURE, header, ...head, ...frame, writePngChunk("IEND", Buffer.alloc(0))];
  return { png: Buffer.concat(png), bars: { left, top, right, bottom } };
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
