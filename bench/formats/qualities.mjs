import sharp from "sharp";
import { photograph } from "../inputs/photograph.mjs";
import { screenshot } from "../inputs/screenshot.mjs";
import { readLuma, similarity } from "../src/ssim.mjs";
import { formatColumns } from "../src/table.mjs";

/** @import { OriginalType, Quality, Renderer } from "@outrigger/core" */

/** @type {readonly Quality[]} */
const QUALITIES = ["low", "medium", "high", "max", "auto"];
const PHOTO = { width: 3200, height: 2400 };
const BOX = { maxWidth: 1600, maxHeight: 1600 };

/**
 * The size and similarity of the JPEG levels. Each is compared with the lossless rendition of the same original in the
 * same size.
 * @param {Renderer} renderer
 * @returns {Promise<string>} A table.
 */
export async function measureQualities(renderer) {
  const photo = await photograph(PHOTO, 7);
  /** @type {[title: string, type: OriginalType, bytes: Buffer][]} */
  const originals = [
    ["photograph, from JPEG", "image/jpeg", await photo.clone().jpeg({ quality: 95 }).toBuffer()],
    ["photograph, from PNG", "image/png", await photo.clone().png().toBuffer()],
    ["screenshot, from PNG", "image/png", await screenshot().png().toBuffer()],
  ];
  const columns = await Promise.all(
    originals.map(([, type, bytes]) => measureLevels(renderer, type, { bytes })),
  );
  const titles = ["`convert`", ...originals.flatMap(([title]) => [`${title}: KB`, "SSIM"])];
  const rows = QUALITIES.map((quality, index) => [
    `\`${quality}\``,
    ...columns.flatMap((levels) => levels[index] ?? []),
  ]);
  return formatColumns(titles, rows, new Set(titles.slice(1)));
}

/**
 * @param {Renderer} renderer
 * @param {OriginalType} type
 * @param {{ bytes: Buffer }} source
 * @returns {Promise<[kilobytes: string, ssim: string][]>} By quality.
 */
async function measureLevels(renderer, type, source) {
  const lossless = await renderer.render(source, type, { format: "png", ...BOX });
  const expected = await readLuma(sharp(lossless.bytes));
  /** @type {[kilobytes: string, ssim: string][]} */
  const levels = [];
  for (const quality of QUALITIES) {
    const { bytes } = await renderer.render(source, type, { format: "jpg", quality, ...BOX });
    const likeness = similarity(await readLuma(sharp(bytes)), expected);
    levels.push([(bytes.length / 1000).toFixed(0), likeness.toFixed(3)]);
  }
  return levels;
}
