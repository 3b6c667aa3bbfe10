import { photograph } from "./photograph.mjs";
import { createSeeded } from "./seeded.mjs";

/** @import { Seeded } from "./seeded.mjs" */

const [WIDTH, HEIGHT] = [1600, 1200];
const PATHS = 1500;
/** Intervals of paths: one path is blurred and one is a transparent group, both drawn separately and composited. */
const BLURRED_EVERY = 250;
const GROUPED_EVERY = 150;
const CURVES = 5;
const GRADIENTS = 40;
const LINES_OF_TEXT = 24;
const PHOTO = { width: 300, height: 200 };

/**
 * A drawing of 1600 × 1200 with many paths, 40 gradients, filters, a mask, a pattern, text and an embedded PNG.
 * @param {number} [paths]
 * @returns {Promise<Buffer>} With the default, about two thirds of a megabyte.
 */
export async function complexSvg(paths = PATHS) {
  const seeded = createSeeded(40);
  const photo = await (await photograph(PHOTO, 40)).png({ compressionLevel: 9 }).toBuffer();
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">`,
    `<defs>${gradients(seeded)}${EFFECTS}</defs>`,
    '<rect width="100%" height="100%" fill="#f7f4ec"/><rect width="100%" height="100%" fill="url(#dots)"/>',
    ...Array.from({ length: paths }, (_, index) => path(seeded, index)),
    `<g mask="url(#fade)"><image x="620" y="480" width="360" height="240"
      href="data:image/png;base64,${photo.toString("base64")}"/></g>`,
    '<g filter="url(#shadow)"><circle cx="300" cy="900" r="140" fill="url(#g3)"/><rect x="1150" y="150" width="280" height="200" rx="24" fill="url(#g7)"/></g>',
    ...Array.from({ length: LINES_OF_TEXT }, (_, line) => text(line)),
    "</svg>",
  ];
  return Buffer.from(parts.join("\n"));
}

const EFFECTS = `
  <filter id="blur"><feGaussianBlur stdDeviation="3"/></filter>
  <filter id="shadow" x="-20%" y="-20%" width="140%" height="140%"><feGaussianBlur in="SourceAlpha" stdDeviation="8"/>
    <feOffset dx="10" dy="10" result="shadow"/><feMerge><feMergeNode in="shadow"/><feMergeNode in="SourceGraphic"/></feMerge></filter>
  <radialGradient id="white"><stop offset=".5" stop-color="#fff"/><stop offset="1" stop-color="#000"/></radialGradient>
  <mask id="fade"><rect x="620" y="480" width="360" height="240" fill="url(#white)"/></mask>
  <pattern id="dots" width="24" height="24" patternUnits="userSpaceOnUse"><circle cx="12" cy="12" r="3" fill="#d8d2c2"/></pattern>`;

/** @param {Seeded} seeded */
function gradients(seeded) {
  return Array.from({ length: GRADIENTS }, (_, index) => {
    const stops = `<stop stop-color="${colour(seeded)}"/><stop offset="1" stop-color="${colour(seeded)}"/>`;
    return index % 2 === 0
      ? `<linearGradient id="g${index}" gradientTransform="rotate(${index * 9})">${stops}</linearGradient>`
      : `<radialGradient id="g${index}">${stops}</radialGradient>`;
  }).join("");
}

/**
 * @param {Seeded} seeded
 * @param {number} index
 */
function path(seeded, index) {
  const [x, y] = [seeded.next() * WIDTH, seeded.next() * HEIGHT];
  const offset = () => seeded.between(-50, 50).toFixed(2);
  const curves = Array.from({ length: CURVES }, () => `c${Array.from({ length: 6 }, offset).join(" ")}`);
  const filter = index % BLURRED_EVERY === 0 ? ' filter="url(#blur)"' : "";
  const opacity = index % GROUPED_EVERY === 0 ? "opacity" : "fill-opacity";
  const fill = index % 3 === 0 ? "none" : `url(#g${index % GRADIENTS})`;
  return (
    `<path d="M${x.toFixed(2)} ${y.toFixed(2)}${curves.join("")}z" fill="${fill}" stroke="${colour(seeded)}"` +
    ` stroke-width="${seeded.between(0.5, 3).toFixed(1)}" ${opacity}=".7"${filter}/>`
  );
}

/** @param {number} line */
function text(line) {
  const family = ["sans-serif", "serif", "monospace"][line % 3];
  return `<text x="40" y="${60 + line * 46}" font-family="${family}" font-size="${18 + line}">Line ${line + 1} of text in ${family}</text>`;
}

/** @param {Seeded} seeded */
function colour(seeded) {
  return `hsl(${Math.round(seeded.between(0, 360))},${Math.round(seeded.between(30, 80))}%,${Math.round(seeded.between(25, 75))}%)`;
}
