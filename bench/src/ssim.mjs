/**
 * Structural similarity of brightness, after Wang, Bovik, Sheikh and Simoncelli, "Image Quality Assessment: From Error
 * Visibility to Structural Similarity", IEEE Transactions on Image Processing 13 (4), 2004: a Gaussian window of 11 × 11
 * with a standard deviation of 1.5, K1 = 0.01, K2 = 0.03, the mean over all windows that lie within the picture.
 */

/** @import { Sharp } from "sharp" */

const RADIUS = 5;
const DEVIATION = 1.5;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;

const weights = gaussian();

/**
 * @typedef {object} Plane
 * @property {Float64Array} values
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {Plane} one
 * @param {Plane} other Of the same size.
 * @returns {number} 1: equal.
 */
export function similarity(one, other) {
  if (one.width !== other.width || one.height !== other.height) throw new TypeError("The sizes differ");
  const meanOne = windowMeans(one).values;
  const meanOther = windowMeans(other).values;
  const squareOne = windowMeans(product(one, one)).values;
  const squareOther = windowMeans(product(other, other)).values;
  const mixed = windowMeans(product(one, other)).values;
  let sum = 0;
  for (let index = 0; index < mixed.length; index++) {
    // All five planes share this index.
    const [a, b] = [/** @type {number} */ (meanOne[index]), /** @type {number} */ (meanOther[index])];
    const varianceOne = /** @type {number} */ (squareOne[index]) - a * a;
    const varianceOther = /** @type {number} */ (squareOther[index]) - b * b;
    const covariance = /** @type {number} */ (mixed[index]) - a * b;
    sum +=
      ((2 * a * b + C1) * (2 * covariance + C2)) /
      ((a * a + b * b + C1) * (varianceOne + varianceOther + C2));
  }
  return sum / mixed.length;
}

/**
 * Brightness as JPEG weighs it (ITU-R BT.601).
 * @param {Sharp} image Opaque.
 * @returns {Promise<Plane>}
 */
export async function readLuma(image) {
  const { data, info } = await image
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  const values = new Float64Array(info.width * info.height);
  for (let pixel = 0; pixel < values.length; pixel++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(pixel * 3, pixel * 3 + 3);
    values[pixel] = 0.299 * red + 0.587 * green + 0.114 * blue;
  }
  return { values, width: info.width, height: info.height };
}

function gaussian() {
  const raw = Array.from({ length: 2 * RADIUS + 1 }, (_, index) =>
    Math.exp(-((index - RADIUS) ** 2) / (2 * DEVIATION ** 2)),
  );
  const sum = raw.reduce((total, each) => total + each, 0);
  return raw.map((each) => each / sum);
}

/**
 * @param {Plane} one
 * @param {Plane} other
 * @returns {Plane}
 */
function product(one, other) {
  const values = one.values.map((value, index) => value * (other.values[index] ?? 0));
  return { ...one, values };
}

/**
 * The weighted mean of every window that lies within the plane: rows first, then columns.
 * @param {Plane} plane
 * @returns {Plane}
 */
function windowMeans({ values, width, height }) {
  const across = { width: width - 2 * RADIUS, height };
  const rows = convolve(values, across, (x, y) => y * width + x, 1);
  const inside = { width: across.width, height: height - 2 * RADIUS };
  return { ...inside, values: convolve(rows, inside, (x, y) => y * across.width + x, across.width) };
}

/**
 * @param {Float64Array} values
 * @param {{ width: number, height: number }} size Of the result.
 * @param {(x: number, y: number) => number} firstIndex Of the window's values.
 * @param {number} step To the next of them.
 */
function convolve(values, { width, height }, firstIndex, step) {
  const result = new Float64Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let index = firstIndex(x, y);
      let sum = 0;
      for (const weight of weights) {
        sum += weight * (values[index] ?? 0);
        index += step;
      }
      result[y * width + x] = sum;
    }
  }
  return result;
}
