/** The byte order of a TIFF block. */
export type ByteOrder = "II" | "MM";

/** The private text in the blocks of {@link exifBlock}. */
export const EXIF_SECRET = "Serial 12345678";

const ASCII = 2;
const SHORT = 3;
const LONG = 4;

/**
 * An EXIF block from its TIFF header on: a camera in IFD0, the orientation (a SHORT by default), and a directory with a
 * GPS latitude reference.
 */
export function exifBlock(orientation: number, byteOrder: ByteOrder = "MM", orientationType = SHORT): Buffer {
  const block = Buffer.alloc(96);
  const view = new DataView(block.buffer, block.byteOffset, block.length);
  const isLittle = byteOrder === "II";
  const writeEntry = (at: number, tag: number, type: number, count: number) => {
    view.setUint16(at, tag, isLittle);
    view.setUint16(at + 2, type, isLittle);
    view.setUint32(at + 4, count, isLittle);
  };
  block.write(byteOrder, "latin1");
  view.setUint16(2, 42, isLittle);
  view.setUint32(4, 8, isLittle);
  view.setUint16(8, 3, isLittle);
  writeEntry(10, 0x010f, ASCII, EXIF_SECRET.length + 1);
  view.setUint32(18, 72, isLittle);
  writeEntry(22, 0x0112, orientationType, 1);
  if (orientationType === SHORT) view.setUint16(30, orientation, isLittle);
  else if (orientationType === LONG) view.setUint32(30, orientation, isLittle);
  else view.setUint8(30, orientation);
  writeEntry(34, 0x8825, LONG, 1);
  view.setUint32(42, 54, isLittle);
  view.setUint16(54, 1, isLittle);
  writeEntry(56, 1, ASCII, 2);
  block.write("N\0", 64, "latin1");
  block.write(EXIF_SECRET, 72, "latin1");
  return block;
}
