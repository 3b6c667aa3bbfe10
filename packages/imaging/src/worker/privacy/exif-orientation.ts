const ORIENTATION_TAG = 0x0112;
const IFD_ENTRY_BYTES = 12;

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
  const byteOrder = tiff.toString("latin1", 0, 2);
  if (tiff.length < 8 || (byteOrder !== "II" && byteOrder !== "MM")) return 1;
  const littleEndian = byteOrder === "II";
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const directory = view.getUint32(4, littleEndian);
  if (view.getUint16(2, littleEndian) !== 42 || directory + 2 > tiff.length) return 1;
  const firstEntry = directory + 2;
  const end = firstEntry + view.getUint16(directory, littleEndian) * IFD_ENTRY_BYTES;
  for (
    let entry = firstEntry;
    entry < end && entry + IFD_ENTRY_BYTES <= tiff.length;
    entry += IFD_ENTRY_BYTES
  ) {
    if (view.getUint16(entry, littleEndian) !== ORIENTATION_TAG) continue;
    const isLawful =
      view.getUint16(entry + 2, littleEndian) === SHORT && view.getUint32(entry + 4, littleEndian) === 1;
    const value = isLawful ? view.getUint16(entry + 8, littleEndian) : 1;
    return value >= 1 && value <= 8 ? value : 1;
  }
  return 1;
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
