import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { animation } from "../inputs/animation.mjs";
import { complexSvg } from "../inputs/complex-svg.mjs";
import { layeredPsd } from "../inputs/layered-psd.mjs";
import { photograph } from "../inputs/photograph.mjs";
import { textPdf } from "../inputs/text-pdf.mjs";

/** @import { OriginalType } from "@outrigger/core" */
/** @import { Sharp } from "sharp" */

/**
 * A file of a typical upload size.
 * @typedef {object} Original
 * @property {string} suffix
 * @property {OriginalType} type
 * @property {string} what In words.
 * @property {string} path
 * @property {number} bytes
 */

const PHOTO = { width: 4000, height: 3000 };
const LARGE_PHOTO = { width: 6000, height: 4000 };
const ANIMATION = { width: 640, height: 480 };
const FRAMES = 30;

/**
 * One of each type.
 * @param {string} directory
 * @returns {Promise<Original[]>}
 */
export async function createOriginals(directory) {
  const photo = await photograph(PHOTO);
  const save = saver(directory);
  return [
    await save("png", "image/png", "12 megapixels", await photo.clone().png().toBuffer()),
    await save(
      "jpg",
      "image/jpeg",
      "12 megapixels",
      await cameraJpeg(photo, { quality: 92, chroma: "4:2:0" }),
    ),
    await save("gif", "image/gif", "640 × 480, 30 frames", await animation(ANIMATION, FRAMES)),
    await save("svg", "image/svg+xml", "1600 × 1200, 1500 paths", await complexSvg()),
    await save(
      "psd",
      "image/x-photoshop",
      "3000 × 2000, 5 layers",
      await layeredPsd({ width: 3000, height: 2000 }),
    ),
    await save("pdf", "application/pdf", "A4, 10 pages", await textPdf()),
  ];
}

/**
 * A photograph of the largest size accepted for upload.
 * @param {string} directory
 * @returns {Promise<Original>}
 */
export async function createLargePhoto(directory) {
  const bytes = await cameraJpeg(await photograph(LARGE_PHOTO, 6), { quality: 100, chroma: "4:4:4" });
  return saver(directory)("jpg", "image/jpeg", "24 megapixels, with EXIF", bytes, "large");
}

/** @param {string} directory */
function saver(directory) {
  /**
   * @param {string} suffix
   * @param {OriginalType} type
   * @param {string} what
   * @param {Buffer} bytes
   * @param {string} [name]
   * @returns {Promise<Original>}
   */
  return async (suffix, type, what, bytes, name = "original") => {
    const path = join(directory, `${name}.${suffix}`);
    await writeFile(path, bytes);
    return { suffix, type, what, path, bytes: bytes.length };
  };
}

/**
 * Adds the metadata that a camera writes beside the pixels.
 * @param {Sharp} photo
 * @param {{ quality: number, chroma: string }} settings
 */
function cameraJpeg(photo, { quality, chroma }) {
  return photo
    .clone()
    .jpeg({ quality, chromaSubsampling: chroma })
    .withExif({
      IFD0: { Make: "Camera", Model: "One", Artist: "A photographer" },
      IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 0/1" },
    })
    .withIccProfile("srgb")
    .toBuffer();
}
