import type { Sharp } from "sharp";
import type { Size } from "../../shared/fit.ts";

/** A difference of a colour channel that edges, smoothed in different ways, do not come to. */
const VISIBLE_DIFFERENCE = 48;
/** Pixels that may differ visibly: corners and crossings. */
const MAX_DIFFERENT_SHARE = 0.001;
const MAX_MEAN_DIFFERENCE = 1.5;

/**
 * Whether two drawings of the same picture look the same. Both should come at twice `size` or more: averaging them down
 * evens out what two renderers do differently at edges.
 */
export async function looksAlike(one: Sharp, other: Sharp, size: Size): Promise<boolean> {
  const [a, b] = await Promise.all([averaged(one, size), averaged(other, size)]);
  if (a.length !== b.length) return false;
  let sum = 0;
  let different = 0;
  for (let index = 0; index < a.length; index++) {
    // Both have this index.
    const difference = Math.abs((a[index] as number) - (b[index] as number));
    sum += difference;
    if (difference > VISIBLE_DIFFERENCE) different++;
  }
  return sum <= a.length * MAX_MEAN_DIFFERENCE && different <= a.length * MAX_DIFFERENT_SHARE;
}

function averaged(image: Sharp, size: Size): Promise<Buffer> {
  return image
    .flatten({ background: "#ffffff" })
    .resize({ ...size, fit: "fill" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer();
}
