const SIGNATURE_BYTES = 8;
/** Length and type before the data of a chunk, checksum after. */
const CHUNK_HEAD_BYTES = 8;
const CHUNK_FRAME_BYTES = 12;

/**
 * The compressed pixels of a whole and well-formed PNG: its IDAT chunks, one after the other.
 *
 * Source: PNG specification, third edition, section 5.
 */
export function readIdat(png: Buffer): Buffer {
  const parts: Buffer[] = [];
  for (let position = SIGNATURE_BYTES; position < png.length; ) {
    const length = png.readUInt32BE(position);
    const start = position + CHUNK_HEAD_BYTES;
    if (png.toString("latin1", position + 4, start) === "IDAT") {
      parts.push(png.subarray(start, start + length));
    }
    position += CHUNK_FRAME_BYTES + length;
  }
  return Buffer.concat(parts);
}
