import { isServiceError } from "@outrigger/core/values";
import { type GifBlock, readGifBlocks } from "../gif/gif-blocks.ts";
import { isCritical, isKept, PNG_SIGNATURE, readPngChunks, writePngChunk } from "../png/png-chunks.ts";
import { Edits } from "./edits.ts";
import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";
import { stripJpeg } from "./strip-jpeg.ts";

type RasterType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/**
 * A raster that is part of another file, without its metadata, and its type by its first bytes. `undefined` for bytes
 * that are not a PNG, JPEG, GIF or WebP, or have no readable structure.
 */
export function stripRaster(bytes: Buffer): { type: RasterType; bytes: Buffer } | undefined {
  const type = rasterType(bytes);
  if (type === undefined) return undefined;
  if (type === "image/webp") return { type, bytes: stripWebp(bytes) };
  try {
    const stripped = Buffer.concat(strip(bytes, type) ?? [bytes]);
    // Of a damaged file, nothing may remain.
    return rasterType(stripped) === type ? { type, bytes: stripped } : undefined;
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return undefined;
    throw error;
  }
}

function strip(bytes: Buffer, type: Exclude<RasterType, "image/webp">): readonly Buffer[] | null {
  if (type === "image/png") return stripPng(bytes);
  // Readers draw the part of a GIF that came.
  return type === "image/gif" ? stripGif(bytes, { allowCut: true }) : stripJpeg(bytes);
}

function rasterType(bytes: Buffer): RasterType | undefined {
  const head = bytes.toString("latin1", 0, 12);
  if (head.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (head.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (/^GIF8[79]a/.test(head)) return "image/gif";
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? "image/webp" : undefined;
}

const GIF = "image/gif";
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
  const edits = new Edits(bytes, GIF);
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

const PNG = "image/png";

/** Critical chunks, and those for appearance, colour and animation. Two had another spelling in drafts. */
const essentialChunks = new Set([
  ...["IHDR", "PLTE", "IDAT", "IEND"],
  ...["tRNS", "gAMA", "cHRM", "sRGB", "iCCP", "cICP", "mDCV", "mDCv", "cLLI", "cLLi", "sBIT", "bKGD", "hIST"],
  ...["pHYs", "sPLT", "acTL", "fcTL", "fdAT"],
]);

/**
 * Removes from a PNG everything that does not affect its pixels: EXIF, texts (including XMP and old raw profiles), the
 * time, private chunks, chunks with a wrong checksum, which browsers ignore, and everything after its end. It keeps critical chunks, transparency, colour, density and
 * animation. EXIF with an orientation is reduced to that. The pieces share the memory of `bytes`; `null` when there is
 * nothing to remove. Throws `unsupported_media` for bytes that are not a PNG.
 *
 * Source: PNG specification, third edition, sections 5 and 11.
 */
export function stripPng(bytes: Buffer): readonly Buffer[] | null {
  const edits = new Edits(bytes, PNG);
  let position = PNG_SIGNATURE.length;
  let hasExif = false;
  for (const chunk of readPngChunks(bytes)) {
    const { type, start, data, end } = chunk;
    position = end;
    // Decoders stop at a critical chunk that they do not know, or have read all pixels before it.
    const kept = isCritical(type) || isKept(bytes, chunk);
    // Only the first counts.
    const orientation = type === "eXIf" && kept && !hasExif ? readExifOrientation(data) : 1;
    hasExif ||= type === "eXIf" && kept;
    if (orientation !== 1)
      edits.replace(start, end, writePngChunk("eXIf", writeExifOrientation(orientation)));
    else if (!kept || !essentialChunks.has(type)) edits.remove(start, end);
  }
  edits.remove(position, bytes.length);
  return edits.apply();
}

const HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** Place of the first chunk in a frame of an animation. */
const FRAME_HEADER_BYTES = 16;
/** Flags of `VP8X` for EXIF and XMP. */
const EXIF_FLAG = 0x08;
const XMP_FLAG = 0x04;
/** Some writers begin EXIF as in a JPEG. */
const EXIF = "Exif\0\0";

/** Chunks for pixels, colour, transparency and animation. */
const essentialWebpChunks = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);

/**
 * Removes from a WebP everything that does not affect its pixels: EXIF, XMP, unknown chunks, also those of frames, and
 * everything after its end. EXIF with an orientation is reduced to that. Never throws: a truncated chunk ends with the file.
 *
 * Source: RFC 9649, section 2.
 */
export function stripWebp(bytes: Buffer): Buffer {
  const content = bytes.subarray(HEADER_BYTES, CHUNK_HEADER_BYTES + bytes.readUInt32LE(4));
  const chunks = [...readChunks(content)];
  const exif = chunks.find(({ type }) => type === "EXIF")?.data;
  const hasPrefix = exif?.toString("latin1", 0, EXIF.length) === EXIF;
  const orientation =
    exif === undefined ? 1 : readExifOrientation(exif.subarray(hasPrefix ? EXIF.length : 0));
  const kept = chunks.flatMap(({ type, data }) => {
    if (!essentialWebpChunks.has(type)) return [];
    if (type === "ANMF") return writeChunk(type, stripFrame(data));
    return writeChunk(type, type === "VP8X" ? withFlags(data, orientation !== 1) : data);
  });
  // Only the extended format, which begins with VP8X, has EXIF.
  const isExtended = chunks[0]?.type === "VP8X";
  if (orientation !== 1 && isExtended) kept.push(...writeChunk("EXIF", writeExifOrientation(orientation)));
  const body = Buffer.concat([Buffer.from("WEBP"), ...kept]);
  return Buffer.concat(writeChunk("RIFF", body));
}

function stripFrame(frame: Buffer): Buffer {
  const chunks = [...readChunks(frame.subarray(FRAME_HEADER_BYTES))].filter(({ type }) =>
    essentialWebpChunks.has(type),
  );
  return Buffer.concat([
    frame.subarray(0, FRAME_HEADER_BYTES),
    ...chunks.flatMap(({ type, data }) => writeChunk(type, data)),
  ]);
}

function withFlags(data: Buffer, hasExif: boolean): Buffer {
  const flagged = Buffer.from(data);
  const [flags = 0] = flagged;
  flagged[0] = (flags & ~(EXIF_FLAG | XMP_FLAG)) | (hasExif ? EXIF_FLAG : 0);
  return flagged;
}

function* readChunks(content: Buffer): Generator<{ type: string; data: Buffer }, void> {
  let start = 0;
  while (start + CHUNK_HEADER_BYTES <= content.length) {
    const type = content.toString("latin1", start, start + 4);
    const dataStart = start + CHUNK_HEADER_BYTES;
    const length = content.readUInt32LE(start + 4);
    yield { type, data: content.subarray(dataStart, dataStart + length) };
    start = dataStart + length + (length % 2);
  }
}

/** A chunk, padded to an even length. */
function writeChunk(type: string, data: Buffer): Buffer[] {
  const header = Buffer.from(`${type}\0\0\0\0`, "latin1");
  header.writeUInt32LE(data.length, 4);
  return [header, data, Buffer.alloc(data.length % 2)];
}
