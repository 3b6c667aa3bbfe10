import { gifData } from "../support/raster-files.ts";

export interface GifFrame {
  left?: number;
  top?: number;
  width: number;
  height: number;
  /** Colour index of all pixels. @default every colour in turn */
  pixels?: number;
  interlaced?: boolean;
  /** A palette of its own, as a number of colours. */
  localColours?: number;
  transparent?: number;
  disposal?: number;
  /** Hundredths of a second. Absent together with `transparent` and `disposal`: no control extension. */
  delay?: number;
  /** Smallest code size. @default the bits of the palette */
  codeSize?: number;
}

export interface GifOptions {
  width: number;
  height: number;
  /** Colours of the global palette; 0: none. @default 64 */
  colours?: number;
  background?: number;
  aspect?: number;
  /** Blocks before the first frame. */
  before?: Buffer[];
  frames?: readonly GifFrame[];
}

/** A GIF, written by the specification alone. */
export function writeGif(options: GifOptions): Buffer {
  const { width, height, colours = 64, background = 0, aspect = 0 } = options;
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
    ...frames.flatMap((frame) => frameOf(frame, colours)),
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

function paletteOf(colours: number): Buffer {
  return Buffer.from(Array.from({ length: colours === 0 ? 0 : 3 * 2 ** bitsOf(colours) }, (_, at) => at * 5));
}

function frameOf(frame: GifFrame, colours: number): Buffer[] {
  const { left = 0, top = 0, width, height, pixels, interlaced, localColours } = frame;
  const { transparent, disposal, delay } = frame;
  const used = localColours ?? (colours || 2);
  const parts: Buffer[] = [];
  if (transparent !== undefined || disposal !== undefined || delay !== undefined) {
    const flags = ((disposal ?? 0) << 2) | (transparent === undefined ? 0 : 1);
    parts.push(extension(0xf9, Buffer.of(flags, (delay ?? 0) & 255, (delay ?? 0) >> 8, transparent ?? 0)));
  }
  const head = Buffer.alloc(10);
  head[0] = 0x2c;
  for (const [place, value] of [left, top, width, height].entries()) head.writeUInt16LE(value, 1 + 2 * place);
  head[9] = (localColours === undefined ? 0 : 0x80 | (bitsOf(localColours) - 1)) | (interlaced ? 0x40 : 0);
  const indices = Array.from({ length: width * height }, (_, at) => pixels ?? at % used);
  return [
    ...parts,
    head,
    ...(localColours === undefined ? [] : [paletteOf(localColours)]),
    gifData(indices, frame.codeSize ?? Math.max(2, bitsOf(used))),
  ];
}
