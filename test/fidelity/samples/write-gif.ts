import { sceneAt } from "./sample.ts";

export interface GifFrame {
  left?: number;
  top?: number;
  width: number;
  height: number;
  /** Index of each pixel. @default the brightness of the scene */
  index?: (x: number, y: number) => number;
  interlaced?: boolean;
  /** A palette of its own, as a number of colours. */
  localColours?: number;
  transparent?: number;
  disposal?: number;
  /** Hundredths of a second. Absent together with `transparent` and `disposal`: no control extension. */
  delay?: number;
  /** Smallest code size. @default the bits of the palette */
  codeSize?: number;
  /** Omits the code that ends the pixels. */
  endless?: boolean;
  /** Sends a clear code after so many codes. @default when the table is full */
  clearEvery?: number;
  /** Bytes per sub-block. @default 255 */
  blockBytes?: number;
}

export interface GifOptions {
  width?: number;
  height?: number;
  /** Colours of the global palette; 0: none. @default 64 */
  colours?: number;
  background?: number;
  aspect?: number;
  /** Blocks before the first frame. */
  before?: Buffer[];
  frames?: readonly GifFrame[];
}

/** A GIF, written by the specification alone. */
export function writeGif(options: GifOptions = {}): Buffer {
  const { width = 64, height = 48, colours = 64, background = 0, aspect = 0 } = options;
  const { before = [], frames = [{ width, height }] } = options;
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen.set([colours > 0 ? 0xf0 | (bitsOf(colours) - 1) : 0x70, background, aspect], 4);
  return Buffer.concat([
    Buffer.from("GIF89a", "latin1"),
    screen,
    paletteOf(colours),
    ...before,
    ...frames.flatMap((frame) => frameOf(frame, options)),
    Buffer.of(0x3b),
  ]);
}

/** An extension: its label and sub-blocks. */
export function extension(label: number, ...blocks: (Buffer | string)[]): Buffer {
  const parts = blocks.map((block) => Buffer.from(block as string, "latin1"));
  return Buffer.concat([
    Buffer.of(0x21, label),
    ...parts.flatMap((part) => [Buffer.of(part.length), part]),
    Buffer.of(0),
  ]);
}

function bitsOf(colours: number): number {
  return Math.max(1, Math.ceil(Math.log2(Math.max(colours, 2))));
}

/** Colours from dark violet over red to bright yellow. */
function paletteOf(colours: number): Buffer {
  if (colours === 0) return Buffer.alloc(0);
  const palette = Buffer.alloc(3 * 2 ** bitsOf(colours));
  for (let index = 0; index < colours; index++) {
    const share = colours === 1 ? 0 : index / (colours - 1);
    palette.set(
      [Math.round(60 + 195 * share), Math.round(255 * share ** 2), Math.round(200 * Math.abs(1 - 2 * share))],
      index * 3,
    );
  }
  return palette;
}

function frameOf(
  frame: GifFrame,
  { width: screenWidth = 64, height: screenHeight = 48, colours = 64 }: GifOptions,
): Buffer[] {
  const { left = 0, top = 0, width, height, interlaced, localColours, transparent, disposal, delay } = frame;
  const used = localColours ?? (colours || 2);
  const scene = (x: number, y: number) => {
    const [red, green, blue] = sceneAt((left + x + 0.5) / screenWidth, (top + y + 0.5) / screenHeight);
    return Math.min(used - 1, Math.max(0, Math.floor((0.3 * red + 0.59 * green + 0.11 * blue) * used)));
  };
  const { index = scene, codeSize = Math.max(2, bitsOf(used)) } = frame;
  const parts: Buffer[] = [];
  if (transparent !== undefined || disposal !== undefined || delay !== undefined) {
    const flags = ((disposal ?? 0) << 2) | (transparent === undefined ? 0 : 1);
    parts.push(extension(0xf9, Buffer.of(flags, (delay ?? 0) & 255, (delay ?? 0) >> 8, transparent ?? 0)));
  }
  const head = Buffer.alloc(10);
  head[0] = 0x2c;
  for (const [place, value] of [left, top, width, height].entries()) head.writeUInt16LE(value, 1 + 2 * place);
  head[9] = (localColours === undefined ? 0 : 0x80 | (bitsOf(localColours) - 1)) | (interlaced ? 0x40 : 0);
  const rows = interlaced ? interlacedRows(height) : Array.from({ length: height }, (_, y) => y);
  const pixels = Uint8Array.from(rows.flatMap((y) => Array.from({ length: width }, (_, x) => index(x, y))));
  parts.push(
    head,
    localColours === undefined ? Buffer.alloc(0) : paletteOf(localColours),
    Buffer.of(codeSize),
  );
  const data = compress(pixels, codeSize, frame);
  const { blockBytes = 255 } = frame;
  for (let start = 0; start < data.length; start += blockBytes) {
    const block = data.subarray(start, start + blockBytes);
    parts.push(Buffer.of(block.length), block);
  }
  return [...parts, Buffer.of(0)];
}

function interlacedRows(height: number): number[] {
  const passes = [
    [0, 8],
    [4, 8],
    [2, 4],
    [1, 2],
  ] as const;
  return passes.flatMap(([first, step]) =>
    Array.from({ length: Math.max(0, Math.ceil((height - first) / step)) }, (_, row) => first + row * step),
  );
}

function compress(pixels: Uint8Array, codeSize: number, { endless, clearEvery }: GifFrame): Buffer {
  const [clear, end] = [2 ** codeSize, 2 ** codeSize + 1];
  const bytes: number[] = [];
  let [rest, bits, size, next, sent] = [0, 0, codeSize + 1, end + 1, 0];
  let table = new Map<number, number>();
  const write = (code: number) => {
    rest |= code << bits;
    for (bits += size; bits >= 8; bits -= 8) {
      bytes.push(rest & 255);
      rest >>>= 8;
    }
  };
  const reset = () => {
    write(clear);
    [table, size, next, sent] = [new Map(), codeSize + 1, end + 1, 0];
  };
  reset();
  let prefix = -1;
  for (const pixel of pixels) {
    const known = prefix < 0 ? pixel : table.get((prefix << 8) | pixel);
    if (known !== undefined) {
      prefix = known;
      continue;
    }
    write(prefix);
    if (next < 4096) {
      table.set((prefix << 8) | pixel, next);
      if (next === 2 ** size && size < 12) size++;
      next++;
    }
    prefix = pixel;
    if (++sent === clearEvery || (clearEvery === undefined && next === 4096)) {
      write(prefix);
      reset();
      prefix = -1;
    }
  }
  if (prefix >= 0) write(prefix);
  if (next === 2 ** size && size < 12) size++;
  if (!endless) write(end);
  if (bits > 0) bytes.push(rest & 255);
  return Buffer.from(bytes);
}
