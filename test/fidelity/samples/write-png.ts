import { crc32, deflateSync } from "node:zlib";
import { type Shade, sceneAt } from "./sample.ts";

/** The colour types of the header. */
const COLOUR_TYPES = { grey: 0, rgb: 2, palette: 3, "grey+alpha": 4, rgba: 6 } as const;
const CHANNELS = { grey: 1, rgb: 3, palette: 1, "grey+alpha": 2, rgba: 4 } as const;

export interface PngOptions {
  colour?: keyof typeof COLOUR_TYPES;
  depth?: 1 | 2 | 4 | 8 | 16;
  interlaced?: boolean;
  width?: number;
  height?: number;
  /** Chunks between the header and the palette. */
  before?: Buffer[];
  /** Chunks between the palette and the pixels. */
  between?: Buffer[];
}

export function chunk(type: string, data: Buffer | readonly number[] = []): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), Buffer.from(data)]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(body.length - 4, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  return frame;
}

const PNG_SIGNATURE = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** A PNG, written by the specification alone. */
export function writePng(options: PngOptions = {}): Buffer {
  const { before = [], between = [] } = options;
  const pixels = chunk("IDAT", compressedPixels(options));
  const palette = options.colour === "palette" ? [chunk("PLTE", paletteOf(options))] : [];
  const parts = [headerOf(options), ...before, ...palette, ...between, pixels, chunk("IEND")];
  return Buffer.concat([PNG_SIGNATURE, ...parts]);
}

function headerOf({ colour = "rgba", depth = 8, interlaced, width = 64, height = 48 }: PngOptions): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, COLOUR_TYPES[colour], 0, 0, interlaced ? 1 : 0], 8);
  return chunk("IHDR", header);
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

export function compressedPixels(options: PngOptions): Buffer {
  const { width = 64, height = 48, interlaced = false, colour = "rgba", depth = 8 } = options;
  const step = Math.max(1, (CHANNELS[colour] * depth) >> 3);
  const rows: Buffer[] = [];
  for (const [left, top, across, down] of interlaced ? PASSES : ([[0, 0, 1, 1]] as const)) {
    const columns = Math.ceil((width - left) / across);
    let above: Buffer | undefined;
    for (let y = top; columns > 0 && y < height; y += down) {
      const row = packedRow(
        options,
        Array.from({ length: columns }, (_, index) => left + index * across),
        y,
      );
      rows.push(filtered(row, above ?? Buffer.alloc(row.length), step, rows.length % 5));
      above = row;
    }
  }
  return deflateSync(Buffer.concat(rows));
}

function packedRow(options: PngOptions, columns: readonly number[], y: number): Buffer {
  const { colour = "rgba", depth = 8, width = 64, height = 48 } = options;
  const samples = columns.flatMap((x) =>
    samplesOf(sceneAt((x + 0.5) / width, (y + 0.5) / height), colour, depth),
  );
  const row = Buffer.alloc(Math.ceil((samples.length * depth) / 8));
  for (const [index, value] of samples.entries()) {
    if (depth === 16) row.writeUInt16BE(value, index * 2);
    else
      row[(index * depth) >> 3] =
        (row[(index * depth) >> 3] ?? 0) | (value << (8 - depth - ((index * depth) & 7)));
  }
  return row;
}

function samplesOf(
  [red, green, blue, alpha]: Shade,
  colour: keyof typeof COLOUR_TYPES,
  depth: number,
): number[] {
  const most = 2 ** depth - 1;
  const grey = 0.3 * red + 0.59 * green + 0.11 * blue;
  if (colour === "palette") return [Math.min(Math.floor(grey * (most + 1)), most)];
  const all = {
    grey: [grey],
    rgb: [red, green, blue],
    "grey+alpha": [grey, alpha],
    rgba: [red, green, blue, alpha],
  };
  return all[colour].map((value) => Math.round(value * most));
}

function paletteOf({ depth = 8 }: PngOptions): Buffer {
  const colours = 2 ** depth;
  const entry = (index: number) => {
    const share = index / (colours - 1);
    return [255 * share, 255 * (1 - share) ** 2, 255 * Math.abs(2 * share - 1)].map(Math.round);
  };
  return Buffer.from(Array.from({ length: colours }, (_, index) => entry(index)).flat());
}

function filtered(row: Buffer, above: Buffer, step: number, kind: number): Buffer {
  const result = Buffer.alloc(row.length + 1);
  result[0] = kind;
  for (let index = 0; index < row.length; index++) {
    const [left, up, corner] = [row[index - step] ?? 0, above[index] ?? 0, above[index - step] ?? 0];
    const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][kind] ?? 0;
    result[index + 1] = (row[index] ?? 0) - guess;
  }
  return result;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}
