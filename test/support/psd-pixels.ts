import { openPsd } from "../../packages/imaging/src/worker/psd/open-psd.ts";

/** Pixels as our reader gives them: 8-bit sRGB, with alpha where there are four channels. */
export interface ReadPixels {
  width: number;
  height: number;
  channels: number;
  data: Buffer;
  at(x: number, y: number): number[];
}

/** Reads a PSD to the end. */
export async function readPsdPixels(bytes: Buffer, maxPixels = 50_000_000): Promise<ReadPixels> {
  const picture = await openPsd(bytes, { maxPixels });
  const image = (await picture.decode()).toColourspace("srgb").raw();
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return {
    width,
    height,
    channels,
    data,
    at: (x, y) => [...data.subarray((y * width + x) * channels, (y * width + x + 1) * channels)],
  };
}

/** The largest difference of any two samples. */
export function largestDifference(some: ArrayLike<number>, others: ArrayLike<number>): number {
  if (some.length !== others.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let index = 0; index < some.length; index++) {
    largest = Math.max(largest, Math.abs((some[index] ?? 0) - (others[index] ?? 0)));
  }
  return largest;
}
