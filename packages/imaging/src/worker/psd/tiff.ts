import { unreadablePsd } from "./psd-header.ts";

/** TIFF's PhotometricInterpretation. */
export const Photometric = { whiteIsZero: 0, blackIsZero: 1, rgb: 2, inks: 5 } as const;

export interface TiffLayout {
  width: number;
  height: number;
  bitsPerSample: 1 | 8 | 16;
  photometric: (typeof Photometric)[keyof typeof Photometric];
  /** Samples of a pixel, alpha included. */
  samplesPerPixel: number;
  /** Whether samples are stored in planes, not pixel by pixel. */
  planar: boolean;
  /** Whether the last sample is alpha, not premultiplied. */
  alpha: boolean;
  iccProfile: Buffer | null;
}

/** Bytes of a strip. libvips holds a strip of every plane and one of pixels, in addition to the file. */
const STRIP_BYTES = 128 * 1024;
/** The largest 32-bit offset of a TIFF. */
const MAX_BYTES = 2 ** 32 - 1;

const FIRST_DIRECTORY_AT = 8;
const ENTRY_BYTES = 12;
const UNDEFINED = { type: 7, bytes: 1 };
const SHORT = { type: 3, bytes: 2 };
const LONG = { type: 4, bytes: 4 };

interface Field {
  tag: number;
  format: { type: number; bytes: number };
  values: ArrayLike<number>;
}

/**
 * Creates a big-endian, uncompressed TIFF. The caller fills in `pixels`, the end of `file`. Throws `unsupported_media`
 * for pixels too large for a TIFF.
 *
 * Source: TIFF 6.0; ICC.1:2022, B.4.
 */
export function createTiff(layout: TiffLayout): { file: Buffer; pixels: Buffer } {
  const { height, planar, samplesPerPixel } = layout;
  const planes = planar ? samplesPerPixel : 1;
  const rowBytes = tiffRowBytes(layout);
  const rowsPerStrip = Math.min(height, Math.max(1, Math.floor(STRIP_BYTES / rowBytes)));
  const pixelBytes = rowBytes * height * planes;
  const strips = listStrips(rowBytes, rowsPerStrip, height, planes);
  const headBytes = sizeOfHead(layOut(layout, rowsPerStrip, strips));
  if (headBytes + pixelBytes > MAX_BYTES) throw unreadablePsd("its pixels take more than 4 GB");
  const offsets = strips.offsets.map((offset) => offset + headBytes);
  const file = Buffer.allocUnsafe(headBytes + pixelBytes);
  writeHead(file, layOut(layout, rowsPerStrip, { ...strips, offsets }));
  return { file, pixels: file.subarray(headBytes) };
}

/** Bytes of a row: of one sample in planar layout, else of all samples. */
export function tiffRowBytes(layout: TiffLayout): number {
  const samples = layout.planar ? 1 : layout.samplesPerPixel;
  return Math.ceil((layout.width * samples * layout.bitsPerSample) / 8);
}

interface Strips {
  offsets: number[];
  lengths: number[];
}

function listStrips(rowBytes: number, rowsPerStrip: number, height: number, planes: number): Strips {
  const strips: Strips = { offsets: [], lengths: [] };
  for (let plane = 0; plane < planes; plane++) {
    for (let row = 0; row < height; row += rowsPerStrip) {
      strips.offsets.push((plane * height + row) * rowBytes);
      strips.lengths.push(Math.min(rowsPerStrip, height - row) * rowBytes);
    }
  }
  return strips;
}

/** The fields in ascending order of tags, as TIFF requires. */
function layOut(layout: TiffLayout, rowsPerStrip: number, strips: Strips): Field[] {
  const { samplesPerPixel, bitsPerSample, alpha, iccProfile } = layout;
  const fields: Field[] = [
    { tag: 256, format: LONG, values: [layout.width] },
    { tag: 257, format: LONG, values: [layout.height] },
    { tag: 258, format: SHORT, values: new Array<number>(samplesPerPixel).fill(bitsPerSample) },
    { tag: 259, format: SHORT, values: [1] },
    { tag: 262, format: SHORT, values: [layout.photometric] },
    { tag: 273, format: LONG, values: strips.offsets },
    { tag: 277, format: SHORT, values: [samplesPerPixel] },
    { tag: 278, format: LONG, values: [rowsPerStrip] },
    { tag: 279, format: LONG, values: strips.lengths },
    { tag: 284, format: SHORT, values: [layout.planar ? 2 : 1] },
  ];
  if (alpha) fields.push({ tag: 338, format: SHORT, values: [2] });
  if (iccProfile !== null) fields.push({ tag: 34675, format: UNDEFINED, values: iccProfile });
  return fields;
}

/** Bytes of the head, including values that do not fit into their entry and follow the directory. */
function sizeOfHead(fields: readonly Field[]): number {
  const outside = fields.map(bytesOutside).reduce((sum, bytes) => sum + bytes, 0);
  return FIRST_DIRECTORY_AT + 2 + fields.length * ENTRY_BYTES + 4 + outside;
}

function bytesOutside({ format, values }: Field): number {
  const bytes = format.bytes * values.length;
  return bytes <= 4 ? 0 : bytes + (bytes % 2);
}

function writeHead(file: Buffer, fields: readonly Field[]): void {
  file.write("MM\0*", 0, "latin1");
  file.writeUInt32BE(FIRST_DIRECTORY_AT, 4);
  file.writeUInt16BE(fields.length, FIRST_DIRECTORY_AT);
  let entryAt = FIRST_DIRECTORY_AT + 2;
  let outsideAt = entryAt + fields.length * ENTRY_BYTES + 4;
  for (const field of fields) {
    file.writeUInt16BE(field.tag, entryAt);
    file.writeUInt16BE(field.format.type, entryAt + 2);
    file.writeUInt32BE(field.values.length, entryAt + 4);
    file.writeUInt32BE(0, entryAt + 8);
    const outside = bytesOutside(field);
    if (outside > 0) file.writeUInt32BE(outsideAt, entryAt + 8);
    writeValues(file, outside > 0 ? outsideAt : entryAt + 8, field);
    entryAt += ENTRY_BYTES;
    outsideAt += outside;
  }
  file.writeUInt32BE(0, entryAt);
}

function writeValues(file: Buffer, start: number, { format, values }: Field): void {
  for (let index = 0; index < values.length; index++) {
    file.writeUIntBE(values[index] ?? 0, start + index * format.bytes, format.bytes);
  }
}
