import { initializeCanvas, writePsdBuffer } from "ag-psd";
import { photograph } from "./photograph.mjs";

/** @import { Layer } from "ag-psd" */
/** @import { Sharp } from "sharp" */
/** @import { Size } from "./photograph.mjs" */

/** Fractions of the document's sides. */
const PATCH_SHARE = 0.45;

/**
 * A Photoshop document: a photograph, four smaller photographs above it, and the merged picture of all five; RGB of 8
 * bits, run-length encoded. Of 3000 × 2000 pixels it has 40 MB.
 * @param {Size} size
 * @returns {Promise<Buffer>}
 */
export async function layeredPsd({ width, height }) {
  // Without a canvas the library works on plain pixel data.
  initializeCanvas(
    () => {
      throw new Error("The PSD library requested a canvas");
    },
    (width, height) => ({
      width,
      height,
      data: new Uint8ClampedArray(width * height * 4),
      colorSpace: /** @type {const} */ ("srgb"),
    }),
  );
  const background = await photograph({ width, height });
  const patchSize = { width: Math.round(width * PATCH_SHARE), height: Math.round(height * PATCH_SHARE) };
  const patches = await Promise.all(
    [0, 1, 2, 3].map(async (index) => ({
      ...(await rgba(await photograph(patchSize, 2 + index))),
      left: Math.round((0.02 + index * 0.17) * width),
      top: Math.round((0.02 + index * 0.17) * height),
    })),
  );
  const merged = background.clone().composite(
    patches.map(({ left, top, imageData: { data, ...raw } }) => ({
      input: Buffer.from(data.buffer),
      raw: { ...raw, channels: /** @type {const} */ (4) },
      left,
      top,
    })),
  );
  /** @type {Layer[]} */
  const children = [
    { name: "photograph", ...(await rgba(background)) },
    ...patches.map((patch, index) => ({ name: `patch ${index + 1}`, ...patch })),
  ];
  return writePsdBuffer({ width, height, children, ...(await rgba(merged)) });
}

/** @param {Sharp} image */
async function rgba(image) {
  const { data, info } = await image.ensureAlpha().raw().toBuffer({ resolveWithObject: true });
  return {
    imageData: {
      width: info.width,
      height: info.height,
      data: new Uint8ClampedArray(data.buffer, data.byteOffset, data.length),
    },
  };
}
