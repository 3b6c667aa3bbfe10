import type { PictureLook } from "@outrigger/core/images";
import { rgbaToThumbHash } from "thumbhash";
import type { Pixels } from "./libvips.ts";

/** Sides of the picture that {@link takeLook} reads. A ThumbHash holds at most seven waves per side. */
export const LOOK_SIDE = 16;

/**
 * The look of a picture, from its pixels at {@link LOOK_SIDE} or less per side.
 * @param isSample Whether the pixels may miss a transparent spot. An alpha channel then counts as transparency.
 */
export function takeLook({ pixels, width, height, channels }: Pixels, isSample: boolean): PictureLook {
  const rgba = channels === 4 ? pixels : withAlpha(pixels, width * height);
  const alpha = channels === 4 && (isSample || pixels.some((value, at) => at % 4 === 3 && value < 255));
  const placeholder = Buffer.from(rgbaToThumbHash(width, height, rgba)).toString("base64");
  const color = averageColor(rgba);
  return { placeholder, ...(color === null ? {} : { color }), alpha };
}

/** The average weighted by opacity. `null` for a picture that is wholly transparent. */
function averageColor(rgba: Buffer): string | null {
  const sums = [0, 0, 0];
  let weight = 0;
  for (let at = 0; at < rgba.length; at += 4) {
    const opacity = rgba[at + 3] ?? 0;
    weight += opacity;
    for (let channel = 0; channel < 3; channel++) {
      sums[channel] = (sums[channel] ?? 0) + (rgba[at + channel] ?? 0) * opacity;
    }
  }
  if (weight === 0) return null;
  const hex = sums.map((sum) =>
    Math.round(sum / weight)
      .toString(16)
      .padStart(2, "0"),
  );
  return `#${hex.join("")}`;
}

function withAlpha(rgb: Buffer, count: number): Buffer {
  const rgba = Buffer.alloc(count * 4, 255);
  for (let at = 0; at < count; at++) rgb.copy(rgba, at * 4, at * 3, at * 3 + 3);
  return rgba;
}
