import { deflateSync } from "node:zlib";
import { pngChunk, uint32s } from "../support/raster-files.ts";

/** The colour types of the header. */
const COLOUR_TYPES = { grey: 0, rgb: 2, palette: 3, "grey+alpha": 4, rgba: 6 } as const;
const CHANNELS = { grey: 1, rgb: 3, palette: 1, "grey+alpha": 2, rgba: 4 } as const;
const [WIDTH, HEIGHT] = [20, 12];

export interface PngOptions {
  colour?: keyof typeof COLOUR_TYPES;
  depth?: 1 | 2 | 4 | 8 | 16;
  interlaced?: boolean;
  /** Chunks between the header and the palette. */
  before?: Buffer[];
  /** Chunks between the palette and the pixels. */
  between?: Buffer[];
}

export function chunk(type: string, data: Buffer | readonly number[] = []): Buffer {
  return pngChunk(type, Buffer.from(data));
}

/** A PNG of 20 × 12 pixels, written by the specification alone. */
export function writePng(options: PngOptions = {}): Buffer {
  const { colour = "rgba", depth = 8, interlaced = false, before = [], between = [] } = options;
  const facts = Buffer.of(depth, COLOUR_TYPES[colour], 0, 0, interlaced ? 1 : 0);
  const header = chunk("IHDR", Buffer.concat([uint32s(WIDTH, HEIGHT), facts]));
  const entries = Array.from({ length: 3 * 2 ** depth }, (_, index) => (index * 5) & 255);
  const palette = colour === "palette" ? [chunk("PLTE", entries)] : [];
  const pixels = chunk("IDAT", compressedPixels(options));
  const parts = [header, ...before, ...palette, ...between, pixels, chunk("IEND")];
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...parts]);
}

/** Starts and steps of the seven passes. */
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** Rows of equal bytes, each with the next filter. */
export function compressedPixels({ interlaced = false, colour = "rgba", depth = 8 }: PngOptions): Buffer {
  const rows: Buffer[] = [];
  for (const [left, top, across, down] of interlaced ? PASSES : ([[0, 0, 1, 1]] as const)) {
    const columns = Math.ceil((WIDTH - left) / across);
    for (let y = top; columns > 0 && y < HEIGHT; y += down) {
      const row = Buffer.alloc(Math.ceil((columns * CHANNELS[colour] * depth) / 8), y * 5);
      rows.push(Buffer.concat([Buffer.of(rows.length % 5), row]));
    }
  }
  return deflateSync(Buffer.concat(rows));
}
