import { openTiff } from "../tiff-directory.ts";

const ORIENTATION_TAG = 0x0112;
/** The TIFF type of an orientation. */
const SHORT = 3;

/**
 * The orientation that an EXIF block declares, 1 to 8; 1 without a valid one. As browsers do, and unlike
 * libexif, it takes only a single SHORT. `tiff` is the block from its TIFF header
 * on. Never throws: truncated or broken entries are ignored.
 *
 * Source: Exif 2.32, section 4.6.4 (Orientation); TIFF 6.0, section 2.
 */
export function readExifOrientation(tiff: Buffer): number {
  const opened = openTiff(tiff, [42]);
  const { type, values } = opened?.read(opened.first).fields.get(ORIENTATION_TAG) ?? {
    type: SHORT,
    values: [],
  };
  const [value = 1] = type === SHORT && values.length === 1 ? values : [];
  return value >= 1 && value <= 8 ? value : 1;
}

/**
 * An EXIF block with only an orientation, from its TIFF header on.
 *
 * Source: TIFF 6.0, section 2.
 */
export function writeExifOrientation(orientation: number): Buffer {
  const tiff = Buffer.alloc(26);
  tiff.write("MM\0*\0\0\0\x08\0\x01", "latin1");
  tiff.writeUInt16BE(ORIENTATION_TAG, 10);
  tiff.writeUInt16BE(SHORT, 12);
  tiff.writeUInt32BE(1, 14);
  tiff.writeUInt16BE(orientation, 18);
  return tiff;
}
