import { readFile } from "node:fs/promises";
import sharp from "sharp";
import { complexSvg } from "../inputs/complex-svg.mjs";
import { screenshot } from "../inputs/screenshot.mjs";
import { textPdf } from "../inputs/text-pdf.mjs";
import { readLuma, similarity } from "../src/ssim.mjs";
import { formatColumns } from "../src/table.mjs";

/** @import { OriginalType, Renderer } from "@outrigger/core" */
/** @import { Plane } from "../src/ssim.mjs" */

/** @typedef {[type: OriginalType, bytes: Buffer]} Original */
/** @typedef {{ bytes: number, ssim: number }} Encoded */

const FORMATS = /** @type {const} */ ({ jpg: "JPEG", webp: "WebP", avif: "AVIF" });
/** Photographs of scikit-image 0.19: the files of Debian's package python3-skimage, of 0.1 to 2 megapixels. */
const PHOTOGRAPHS = [
  ...["astronaut.png", "camera.png", "chelsea.png", "coffee.png", "hubble_deep_field.jpg"],
  ...["motorcycle_left.png", "retina.jpg", "rocket.jpg"],
];
const DIRECTORY = "/usr/lib/python3/dist-packages/skimage/data/";

/**
 * The mean size and SSIM of `convert=auto` and of `high` over real photographs, and over drawings, at full size.
 * @param {Renderer} renderer
 * @returns {Promise<string>} A table.
 */
export async function measureAuto(renderer) {
  const corpora = { photographs: await photographs(), drawings: await drawings() };
  const rows = [];
  for (const [what, originals] of Object.entries(corpora)) {
    for (const [format, name] of Object.entries(FORMATS)) {
      const levels = await measureMeans(renderer, originals, /** @type {keyof typeof FORMATS} */ (format)); // Its own key.
      const saved = 1 - levels.auto.bytes / levels.high.bytes;
      rows.push([
        `${name}, ${originals.length} ${what}`,
        ...[levels.high, levels.auto].flatMap(({ bytes, ssim }) => [kilobytes(bytes), ssim.toFixed(3)]),
        `${(saved * 100).toFixed(0)} %`,
      ]);
    }
  }
  const titles = ["mean", "`high`: KB", "SSIM", "`auto`: KB", "SSIM", "saved"];
  return formatColumns(titles, rows, new Set(titles.slice(1)));
}

/** @returns {Promise<Original[]>} */
function photographs() {
  return Promise.all(
    PHOTOGRAPHS.map(async (name) => {
      const bytes = await readFile(DIRECTORY + name).catch((cause) => {
        throw new Error("The photographs are missing: install the package python3-skimage", { cause });
      });
      /** @type {Original} */
      const original = [name.endsWith(".jpg") ? "image/jpeg" : "image/png", bytes];
      return original;
    }),
  );
}

/** @returns {Promise<Original[]>} */
async function drawings() {
  return [
    ["image/png", await screenshot().png().toBuffer()],
    ["image/svg+xml", await complexSvg()],
    ["application/pdf", await textPdf()],
  ];
}

/**
 * @param {Renderer} renderer
 * @param {readonly Original[]} originals
 * @param {keyof typeof FORMATS} format
 * @returns {Promise<Record<"auto" | "high", Encoded>>}
 */
async function measureMeans(renderer, originals, format) {
  const sums = { auto: { bytes: 0, ssim: 0 }, high: { bytes: 0, ssim: 0 } };
  for (const [type, bytes] of originals) {
    const lossless = await renderer.render({ bytes }, type, { format: "png" });
    const expected = await readOnWhite(lossless.bytes);
    for (const quality of /** @type {const} */ (["auto", "high"])) {
      const rendition = await renderer.render({ bytes }, type, { format, quality });
      sums[quality].bytes += rendition.bytes.length / originals.length;
      sums[quality].ssim += similarity(await readOnWhite(rendition.bytes), expected) / originals.length;
    }
  }
  return sums;
}

/**
 * @param {Buffer} bytes
 * @returns {Promise<Plane>}
 */
function readOnWhite(bytes) {
  return readLuma(sharp(bytes).flatten({ background: "#fff" }));
}

/** @param {number} bytes */
function kilobytes(bytes) {
  return (bytes / 1000).toFixed(0);
}
