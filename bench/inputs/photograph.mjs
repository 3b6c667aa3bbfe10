import sharp from "sharp";
import { createSeeded } from "./seeded.mjs";

/** @import { Sharp } from "sharp" */
/** @import { Seeded } from "./seeded.mjs" */

/** @typedef {{ width: number, height: number }} Size Pixels. */

/** Cells of the coarsest noise along the longer side; each further octave has twice as many. */
const COARSEST_CELLS = 4;
/** Octaves that differ in colour; finer ones differ in brightness only, as in a photograph. */
const COLOURED_OCTAVES = 3;
/** The most that the coarsest octaves of colour and brightness may add or subtract, of 255. */
const COLOUR_RANGE = 44;
const DETAIL_RANGE = 300;
/** The factor from each octave to the next finer one: natural images have almost the same contrast at every scale. */
const FINER_BY = 0.85;
/** How unevenly detail is distributed. */
const UNEVENNESS = 6;
const SHAPES = 60;

/**
 * A picture with the statistics of a photograph: contrast at every scale, colours at the coarse ones, edges, and grain.
 * @param {Size} size
 * @param {number} [seed]
 * @returns {Promise<Sharp>} Opaque, 8 bits, three channels.
 */
export async function photograph(size, seed = 1) {
  const seeded = createSeeded(seed);
  const values = Float32Array.from(await drawScene(size, seeded));
  // Skies are smooth, leaves are not.
  const texture = await smoothNoise(size, COARSEST_CELLS, 1, seeded);
  const octaves = Math.ceil(Math.log2(Math.max(size.width, size.height) / COARSEST_CELLS));
  for (let octave = 0; octave <= octaves; octave++) {
    const shade = FINER_BY ** octave;
    const cells = COARSEST_CELLS * 2 ** octave;
    if (octave < COLOURED_OCTAVES)
      addColour(values, await smoothNoise(size, cells, 3, seeded), COLOUR_RANGE * shade);
    else addDetail(values, await smoothNoise(size, cells, 1, seeded), texture, DETAIL_RANGE * shade);
  }
  return sharp(Uint8ClampedArray.from(values), { raw: { ...size, channels: 3 } });
}

/**
 * Shapes with edges, sharp and blurred.
 * @param {Size} size
 * @param {Seeded} seeded
 * @returns {Promise<Buffer>} RGB.
 */
function drawScene({ width, height }, seeded) {
  const shapes = Array.from({ length: SHAPES }, () => {
    const [x, y, radius] = [
      seeded.next() * width,
      seeded.between(0.4, 1) * height,
      seeded.between(0.02, 0.12) * height,
    ];
    const hue = Math.round(seeded.between(20, 160));
    const lightness = Math.round(seeded.between(15, 55));
    return `<ellipse cx="${x}" cy="${y}" rx="${radius}" ry="${radius * seeded.between(0.4, 2)}"
      fill="hsl(${hue},40%,${lightness}%)"/>`;
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">
    <linearGradient id="sky" x2="0" y2="1"><stop stop-color="#5d8fc4"/><stop offset="1" stop-color="#e8d9b8"/>
    </linearGradient><rect width="100%" height="100%" fill="url(#sky)"/>
    <path d="M0 ${height * 0.55} L${width * 0.3} ${height * 0.35} L${width * 0.6} ${height * 0.5}
      L${width} ${height * 0.3} V${height} H0z" fill="#55663d"/>${shapes.join("")}</svg>`;
  return sharp(Buffer.from(svg)).removeAlpha().raw().toBuffer();
}

/**
 * @param {Size} size
 * @param {number} cells Along the longer side.
 * @param {1 | 3} channels
 * @param {Seeded} seeded
 * @returns {Promise<Buffer>} One octave of noise, interpolated to `size`.
 */
function smoothNoise(size, cells, channels, seeded) {
  const scale = Math.min(1, cells / Math.max(size.width, size.height));
  const width = Math.max(2, Math.round(size.width * scale));
  const height = Math.max(2, Math.round(size.height * scale));
  return sharp(seeded.bytes(width * height * channels), { raw: { width, height, channels } })
    .resize({ ...size, fit: "fill", kernel: "cubic" })
    .toColourspace(channels === 1 ? "b-w" : "srgb")
    .raw()
    .toBuffer();
}

/**
 * @param {Float32Array} values RGB, changed in place.
 * @param {Buffer} noise RGB.
 * @param {number} range
 */
function addColour(values, noise, range) {
  const scale = range / 255;
  for (let index = 0; index < values.length; index++) {
    values[index] = (values[index] ?? 0) + ((noise[index] ?? 0) - 127.5) * scale;
  }
}

/**
 * @param {Float32Array} values RGB, changed in place.
 * @param {Buffer} noise One channel.
 * @param {Buffer} texture One channel: how much of it shows where.
 * @param {number} range
 */
function addDetail(values, noise, texture, range) {
  // Grouped by the texture's 256 values, because powers are slow.
  const scales = Array.from({ length: 256 }, (_, value) => ((value / 255) ** UNEVENNESS * range) / 255);
  for (let pixel = 0; pixel < noise.length; pixel++) {
    const change = ((noise[pixel] ?? 0) - 127.5) * (scales[texture[pixel] ?? 0] ?? 0);
    for (let index = 3 * pixel; index < 3 * pixel + 3; index++) values[index] = (values[index] ?? 0) + change;
  }
}
