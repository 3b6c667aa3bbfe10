import sharp from "sharp";
import { photograph } from "./photograph.mjs";

/** @import { Size } from "./photograph.mjs" */

/** Distance that the view moves from frame to frame. */
const STEP_PIXELS = 5;
const FRAME_MS = 80;

/**
 * A GIF panning over a photograph.
 * @param {Size} size
 * @param {number} frames
 * @returns {Promise<Buffer>}
 */
export async function animation({ width, height }, frames) {
  const scene = await photograph({ width: width + frames * STEP_PIXELS, height }, 30);
  const views = await Promise.all(
    Array.from({ length: frames }, (_, frame) =>
      scene
        .clone()
        .extract({ left: frame * STEP_PIXELS, top: 0, width, height })
        .raw()
        .toBuffer(),
    ),
  );
  const raw = { width, height: height * frames, channels: /** @type {const} */ (3), pageHeight: height };
  return sharp(Buffer.concat(views), { raw })
    .gif({ effort: 1, dither: 0, delay: Array.from({ length: frames }, () => FRAME_MS), loop: 0 })
    .toBuffer();
}
