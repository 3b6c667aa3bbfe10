import type { Pixels } from "../libvips.ts";
import { countsBytes, maxChannelBytes, packChannel } from "./pack-channel.ts";

const NAME = "Layer 0";
/** Alpha, red, green, blue. */
const CHANNEL_IDS = [-1, 0, 1, 2];
const RECORD_BYTES = 16 + 2 + CHANNEL_IDS.length * 6 + 12 + 4 + 16;
/** The length of the section, that of the layer info, and the number of layers. */
const HEAD_BYTES = 4 + 4 + 2;
const PACKED = 1;

/** The maximum bytes that {@link writeLayer} needs. */
export function maxLayerBytes(picture: Pixels): number {
  return HEAD_BYTES + RECORD_BYTES + CHANNEL_IDS.length * (2 + maxChannelBytes(picture)) + 1 + 4;
}

/** The position of the layer's packed alpha, which is also the merged picture's. */
export interface WrittenLayer {
  end: number;
  alpha: { countsAt: number; dataAt: number; end: number };
}

/**
 * Writes a section with one layer that holds the whole picture. The negative layer count tells readers that the merged
 * picture has alpha.
 *
 * Source: Adobe Photoshop File Formats Specification, "Layer and Mask Information Section".
 */
export function writeLayer(picture: Pixels, file: Buffer, start: number): WrittenLayer {
  file.writeInt16BE(-1, start + 8);
  const recordAt = start + HEAD_BYTES;
  const lengthsAt = writeRecord(picture, file, recordAt);
  let end = recordAt + RECORD_BYTES;
  const alpha = { countsAt: end + 2, dataAt: end + 2 + countsBytes(picture), end: 0 };
  CHANNEL_IDS.forEach((id, index) => {
    const channelAt = end;
    const countsAt = file.writeUInt16BE(PACKED, channelAt);
    const dataAt = countsAt + countsBytes(picture);
    end = packChannel(picture, id < 0 ? 3 : id, file, { countsAt, dataAt, onWhite: false });
    if (id < 0) alpha.end = end;
    file.writeInt16BE(id, lengthsAt + index * 6);
    file.writeUInt32BE(end - channelAt, lengthsAt + index * 6 + 2);
  });
  // The length of the layer info is even.
  if ((end - start) % 2 === 1) end = file.writeUInt8(0, end);
  file.writeUInt32BE(end - start - 8, start + 4);
  // No global layer mask.
  end = file.writeUInt32BE(0, end);
  file.writeUInt32BE(end - start - 4, start);
  return { end, alpha };
}

/** @returns the position of the channel IDs and lengths. */
function writeRecord({ width, height }: Pixels, file: Buffer, start: number): number {
  file.fill(0, start, start + RECORD_BYTES);
  file.writeUInt32BE(height, start + 8);
  file.writeUInt32BE(width, start + 12);
  file.writeUInt16BE(CHANNEL_IDS.length, start + 16);
  const lengthsAt = start + 18;
  const blendingAt = lengthsAt + CHANNEL_IDS.length * 6;
  file.write("8BIMnorm", blendingAt, "latin1");
  file.writeUInt8(255, blendingAt + 8);
  // Opaque, not clipped, visible, with the flag that Photoshop sets since version 5.
  file.writeUInt8(0x08, blendingAt + 10);
  // Lengths: no mask, no blending ranges, and the name.
  file.writeUInt32BE(4 + 4 + 8, blendingAt + 12);
  file.writeUInt8(NAME.length, blendingAt + 24);
  file.write(NAME, blendingAt + 25, "latin1");
  return lengthsAt;
}
