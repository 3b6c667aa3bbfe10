import { readExifOrientation, writeExifOrientation } from "./exif-orientation.ts";

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
const essentials = new Set(["VP8 ", "VP8L", "VP8X", "ALPH", "ANIM", "ANMF", "ICCP"]);

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
    if (!essentials.has(type)) return [];
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
    essentials.has(type),
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
