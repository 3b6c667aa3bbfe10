import { crc32, deflateSync } from "node:zlib";

/** A frame of {@link gifOf}. */
export interface DrawnFrame {
  left?: number;
  top?: number;
  width: number;
  height: number;
  /** Colour index of all pixels, or of each. */
  pixels: number | readonly number[];
  /** @default 0, none */
  disposal?: number;
  /** Index of the transparent colour. @default no transparency */
  transparent?: number;
  /** Colour table of 256 colours. @default the global table */
  colours?: Buffer;
}

/** Red, green, blue and yellow. */
export const GIF_COLOURS = Buffer.from("ff000000ff000000ffffff00", "hex");
const TRAILER = 0x3b;

/** A GIF with a global table of {@link GIF_COLOURS}, whose background is green. */
export function gifOf(width: number, height: number, frames: readonly DrawnFrame[]): Buffer {
  return Buffer.concat([
    Buffer.from("GIF89a"),
    uint16s(width, height),
    Buffer.of(0x81, 1, 0),
    GIF_COLOURS,
    ...frames.flatMap(frameOf),
    Buffer.of(TRAILER),
  ]);
}

function frameOf(frame: DrawnFrame): Buffer[] {
  const { left = 0, top = 0, width, height, pixels, disposal = 0, transparent, colours } = frame;
  const indices = typeof pixels === "number" ? Array<number>(width * height).fill(pixels) : pixels;
  return [
    Buffer.of(
      0x21,
      0xf9,
      4,
      (disposal << 2) | (transparent === undefined ? 0 : 1),
      10,
      0,
      transparent ?? 0,
      0,
    ),
    Buffer.of(0x2c),
    uint16s(left, top, width, height),
    colours === undefined ? Buffer.of(0) : Buffer.concat([Buffer.of(0x87), colours]),
    gifData(indices, colours === undefined ? 2 : 8),
  ];
}

/** Pixels in codes of constant length: a clear code before the decoder would make them longer. */
export function gifData(indices: readonly number[], minCodeBits: number): Buffer {
  const clear = 1 << minCodeBits;
  const codes = indices.flatMap((index, at) => (at % (clear - 2) === 0 ? [clear, index] : [index]));
  const bytes: number[] = [];
  let [held, bits] = [0, 0];
  for (const code of [...codes, clear + 1]) {
    held |= code << bits;
    for (bits += minCodeBits + 1; bits >= 8; bits -= 8) {
      bytes.push(held & 255);
      held >>= 8;
    }
  }
  bytes.push(held);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 255) {
    const block = bytes.slice(at, at + 255);
    blocks.push(Buffer.of(block.length, ...block));
  }
  return Buffer.concat([Buffer.of(minCodeBits), ...blocks, Buffer.of(0)]);
}

function uint16s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, 2 * index);
  return bytes;
}

const PNG_CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Colour types of PNG. */
export const PngType = { grey: 0, rgb: 2, palette: 3, greyAlpha: 4, rgbAlpha: 6 } as const;

/** The facts of {@link pngOf}. */
export interface PngParts {
  /** @default 64 */
  size?: number;
  /** One of {@link PngType}. @default rgb */
  type?: number;
  /** 8 or 16. @default 8 */
  depth?: number;
  /** Chunks between header and pixels. */
  chunks?: readonly Buffer[];
  /** Chunks with the compressed pixels. @default one IDAT */
  data?: (compressed: Buffer) => readonly Buffer[];
}

/** A PNG of gradients. */
export function pngOf({
  size = 64,
  type = PngType.rgb,
  depth = 8,
  chunks = [],
  data,
}: PngParts = {}): Buffer {
  const channels = PNG_CHANNELS[type] ?? 1;
  const pixelBytes = Math.max(1, (channels * depth) / 8);
  const rowBytes = size * pixelBytes;
  const rows = Buffer.alloc((rowBytes + 1) * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < rowBytes; x++) {
      const [column, channel] = [Math.floor(x / pixelBytes), Math.floor((x % pixelBytes) / (depth / 8))];
      // Both bytes of a sample of 16 bits are equal: it has the same level as with 8 bits.
      const value = (column * (1 + channel) * 3 + y * 2 * (3 - channel)) & 255;
      rows[y * (rowBytes + 1) + 1 + x] = type === PngType.palette ? value & 3 : value;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([depth, type], 8);
  const compressed = deflateSync(rows);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngChunk("IHDR", header),
    ...(type === PngType.palette ? [pngChunk("PLTE", Buffer.from("0a285ac83c6478e632808080", "hex"))] : []),
    ...chunks,
    ...(data?.(compressed) ?? [pngChunk("IDAT", compressed)]),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([uint32s(data.length), content, uint32s(crc32(content))]);
}

/** The chunk `gAMA`: the exponent of the encoding, times 100,000. */
export function gammaChunk(gamma: number): Buffer {
  return pngChunk("gAMA", uint32s(gamma));
}

/** `cHRM` of Display P3. */
export const P3_CHUNK = pngChunk(
  "cHRM",
  uint32s(31_270, 32_900, 68_000, 32_000, 26_500, 69_000, 15_000, 6000),
);

export function uint32s(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}

/**
 * An APNG whose first picture is a gradient and whose second is another.
 *
 * Source: PNG specification, third edition, section 11.3.6.
 */
export function animatedPng(size: number): Buffer {
  const control = (sequence: number) =>
    pngChunk(
      "fcTL",
      Buffer.concat([uint32s(sequence, size, size, 0, 0), Buffer.from("0001000a0000", "hex")]),
    );
  return pngOf({
    size,
    chunks: [pngChunk("acTL", uint32s(2, 0)), control(0)],
    data: (compressed) => {
      const black = deflateSync(Buffer.alloc((size * 3 + 1) * size));
      return [pngChunk("IDAT", compressed), control(1), pngChunk("fdAT", Buffer.concat([uint32s(2), black]))];
    },
  });
}

/** The bytes of a JPEG's DC-only blocks of 8 × 8 grey pixels, with a restart marker after each row of blocks. */
export function restartingJpeg(
  columns: number,
  rows: number,
): { bytes: Buffer; endOfRow: readonly number[] } {
  const segment = (marker: number, data: Buffer) =>
    Buffer.concat([Buffer.of(0xff, marker), uint16be(data.length + 2), data]);
  const pieces = [
    Buffer.of(0xff, 0xd8),
    segment(0xdb, Buffer.concat([Buffer.of(0), Buffer.alloc(64, 1)])),
    segment(
      0xc0,
      Buffer.concat([Buffer.of(8), uint16be(rows * 8), uint16be(columns * 8), Buffer.of(1, 1, 0x11, 0)]),
    ),
    // DC: sizes 0 to 11 have 4 bits each. AC: one code of 1 bit, the end of the block.
    segment(
      0xc4,
      Buffer.of(0, 0, 0, 0, 12, ...Array<number>(12).fill(0), ...Array.from({ length: 12 }, (_, i) => i)),
    ),
    segment(0xc4, Buffer.of(0x10, 1, ...Array<number>(15).fill(0), 0)),
    segment(0xdd, uint16be(columns)),
    segment(0xda, Buffer.of(1, 1, 0, 0, 63, 0)),
  ];
  const endOfRow: number[] = [];
  let length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  for (let row = 0; row < rows; row++) {
    let bits = "";
    for (let column = 0; column < columns; column++) {
      // Alternately brighter and darker by 512 / 8 levels: a size of 10 bits.
      const isUp = column % 2 === 0;
      bits += `1010${isUp ? "1000000000" : "0111111111"}0`;
    }
    const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, "1");
    const data = (padded.match(/.{8}/g) ?? []).flatMap((byte) => {
      const value = Number.parseInt(byte, 2);
      return value === 0xff ? [0xff, 0] : [value];
    });
    const marker = row === rows - 1 ? 0xd9 : 0xd0 + (row % 8);
    pieces.push(Buffer.of(...data));
    length += data.length;
    endOfRow.push(length);
    pieces.push(Buffer.of(0xff, marker));
    length += 2;
  }
  return { bytes: Buffer.concat(pieces), endOfRow };
}

function uint16be(value: number): Buffer {
  return Buffer.of(value >> 8, value & 255);
}
