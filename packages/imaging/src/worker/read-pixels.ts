import type { OriginalType } from "@outrigger/core";
import type { Sharp } from "sharp";
import { reading } from "./reading.ts";

/** Interleaved 8-bit sRGB, with alpha where there are four channels. */
export interface Pixels {
  pixels: Buffer;
  width: number;
  height: number;
  channels: 3 | 4;
}

/** Runs a pipeline to its pixels. */
export async function readPixels(
  image: Sharp,
  type: OriginalType,
  limits: { maxPixels: number },
): Promise<Pixels> {
  const drawing = image.toColourspace("srgb").raw().toBuffer({ resolveWithObject: true });
  const { data, info } = await reading(type, limits, drawing);
  return { pixels: data, width: info.width, height: info.height, channels: info.channels === 4 ? 4 : 3 };
}
