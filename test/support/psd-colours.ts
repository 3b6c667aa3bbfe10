import { expect } from "vitest";
import { largestDifference, readPsdPixels } from "./psd-pixels.ts";
import { type SamplePsd, samplePsd } from "./psd-samples.ts";

const WIDTH = 5;
const HEIGHT = 4;

/** A colour of {@link patterned}. */
export interface Colour {
  /** As they are in the file, one for each channel. */
  stored: number[];
  /** sRGB, and alpha where there is one. */
  seen: number[];
}

function colourAt<T>(colours: readonly T[], x: number, y: number): T {
  const colour = colours[(y * WIDTH + x) % colours.length];
  if (colour === undefined) throw new Error("There are no colours");
  return colour;
}

/** A picture of these colours in turn, whose width is no multiple of their number. */
export function patterned(colours: readonly Colour[], more: Partial<SamplePsd> = {}): Buffer {
  const channels = (colours[0]?.stored ?? []).map((_, channel) =>
    Array.from(
      { length: WIDTH * HEIGHT },
      (_, index) => colourAt(colours, index % WIDTH, Math.floor(index / WIDTH)).stored[channel] ?? 0,
    ),
  );
  return samplePsd({ width: WIDTH, height: HEIGHT, channels, ...more });
}

/** Fails unless a file reads as a picture that {@link patterned} makes of the colours. */
export async function expectColours(
  bytes: Buffer,
  colours: readonly Colour[],
  tolerance: number,
): Promise<void> {
  const read = await readPsdPixels(bytes);
  expect([read.width, read.height, read.channels]).toEqual([WIDTH, HEIGHT, colours[0]?.seen.length]);
  for (let y = 0; y < HEIGHT; y++) {
    for (let x = 0; x < WIDTH; x++) {
      const { seen } = colourAt(colours, x, y);
      const difference = largestDifference(read.at(x, y), seen);
      expect(difference, `${x}, ${y}: ${read.at(x, y)} for ${seen}`).toBeLessThanOrEqual(tolerance);
    }
  }
}

/** The same colours with every stored sample multiplied. */
export function scaled(colours: readonly Colour[], factor: number): Colour[] {
  return colours.map(({ stored, seen }) => ({ stored: stored.map((sample) => sample * factor), seen }));
}
