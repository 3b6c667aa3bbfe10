import type { Pixels } from "../libvips.ts";

/**
 * Structural similarity of brightness after Wang, Bovik, Sheikh and Simoncelli, "Image Quality Assessment: From Error
 * Visibility to Structural Similarity", IEEE Transactions on Image Processing 13 (4), 2004: Gaussian windows of 11 × 11
 * pixels with a standard deviation of 1.5, K1 = 0.01, K2 = 0.03.
 */

/** Pixels of a window's side. */
export const WINDOW = 11;
/** Pixels from window to window. Prime to the 8 pixels of a JPEG's blocks, so that the windows lie anywhere in them. */
const STEP = 5;
const DEVIATION = 1.5;
const C1 = (0.01 * 255) ** 2;
const C2 = (0.03 * 255) ** 2;
/** Transparent pixels are compared on both: white on transparent is seen only on black. */
const BACKGROUNDS = [255, 0];

const WEIGHTS = gaussian();

/** Pixels in tiles of equal size side by side. No window lies in two tiles. */
export interface Tiled extends Pixels {
  tileWidth: number;
  tileHeight: number;
  /** The tiles' share of the pixels of the picture for which they stand; 1: all of it. */
  share: number;
}

/** Standard errors by which the mean of a sample may exceed that of its picture: in one of twenty, if errors are normal. */
const ERRORS = 1.64;

/**
 * Compares pictures with `expected`.
 * @returns the mean SSIM of a picture of the same size, 1: equal; of a sample, less by {@link ERRORS}. With transparency, the
 *   lower of those on white and on black.
 */
export function similarityTo(expected: Tiled): (given: Pixels) => number {
  const backgrounds = expected.channels === 4 ? BACKGROUNDS : BACKGROUNDS.slice(0, 1);
  const compare = backgrounds.map((background) => comparisonWith(expected, background));
  return (given) => Math.min(...compare.map((each) => each(given)));
}

function comparisonWith(expected: Tiled, background: number): (given: Pixels) => number {
  const luma = lumaOn(expected, background);
  return (given) => surelyOf(similarityOfTiles(luma, lumaOn(given, background), expected), expected.share);
}

/** Brightness as JPEG weighs it (ITU-R BT.601), on a grey background of 0 to 255. */
function lumaOn({ pixels, width, height, channels }: Pixels, background: number): Float64Array {
  const luma = new Float64Array(width * height);
  for (let pixel = 0, at = 0; pixel < luma.length; pixel++, at += channels) {
    // Each index is below the length.
    const opaque =
      0.299 * (pixels[at] as number) +
      0.587 * (pixels[at + 1] as number) +
      0.114 * (pixels[at + 2] as number);
    const alpha = channels === 4 ? (pixels[at + 3] as number) / 255 : 1;
    luma[pixel] = alpha * opaque + (1 - alpha) * background;
  }
  return luma;
}

/** The mean of tiles, less the error that it may have. */
function surelyOf(tiles: readonly number[], share: number): number {
  const mean = tiles.reduce((sum, each) => sum + each, 0) / tiles.length;
  if (share === 1) return mean;
  const squares = tiles.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  // Of a sample without replacement from a finite number of tiles.
  return mean - ERRORS * Math.sqrt((squares / (tiles.length - 1) / tiles.length) * (1 - share));
}

/** The mean SSIM over the windows of each tile. */
function similarityOfTiles(one: Float64Array, other: Float64Array, tiles: Tiled): number[] {
  const { width, height, tileWidth, tileHeight } = tiles;
  const lefts = starts(width, tileWidth);
  const tops = starts(height, tileHeight);
  const across = width / tileWidth;
  const count = across * (height / tileHeight);
  const means = new Array<number>(count).fill(0);
  const columns = new Float64Array(width * SUMS);
  for (const top of tops) {
    addColumns(one, other, top * width, columns);
    for (const left of lefts) {
      const tile = Math.floor(top / tileHeight) * across + Math.floor(left / tileWidth);
      means[tile] = (means[tile] ?? 0) + similarityOfWindow(columns, left * SUMS);
    }
  }
  return means.map((sum) => (sum * count) / (lefts.length * tops.length));
}

/** Weighted sums of a column: both values, both squares, and their product. */
const SUMS = 5;

/** Writes the sums of each column of windows that begin at `first`: SSIM's Gaussian is the product of two of one dimension. */
function addColumns(one: Float64Array, other: Float64Array, first: number, columns: Float64Array): void {
  const width = columns.length / SUMS;
  columns.fill(0);
  // In loops of numbers only: a search reads half a million pixels. Each index is within its array.
  for (let row = 0; row < WINDOW; row++) {
    const weight = WEIGHTS[row] as number;
    for (let x = 0, at = first + row * width, to = 0; x < width; x++, at++, to += SUMS) {
      const a = one[at] as number;
      const b = other[at] as number;
      columns[to] = (columns[to] as number) + weight * a;
      columns[to + 1] = (columns[to + 1] as number) + weight * b;
      columns[to + 2] = (columns[to + 2] as number) + weight * a * a;
      columns[to + 3] = (columns[to + 3] as number) + weight * b * b;
      columns[to + 4] = (columns[to + 4] as number) + weight * a * b;
    }
  }
}

/** The SSIM of the window whose first column is at `from`. */
function similarityOfWindow(columns: Float64Array, from: number): number {
  let [a, b, squaresA, squaresB, products] = [0, 0, 0, 0, 0];
  for (let column = 0, at = from; column < WINDOW; column++, at += SUMS) {
    const weight = WEIGHTS[column] as number;
    a += weight * (columns[at] as number);
    b += weight * (columns[at + 1] as number);
    squaresA += weight * (columns[at + 2] as number);
    squaresB += weight * (columns[at + 3] as number);
    products += weight * (columns[at + 4] as number);
  }
  const varianceA = squaresA - a * a;
  const varianceB = squaresB - b * b;
  const covariance = products - a * b;
  return ((2 * a * b + C1) * (2 * covariance + C2)) / ((a * a + b * b + C1) * (varianceA + varianceB + C2));
}

/** Where windows begin along a side of `length` pixels that has tiles of `tile` pixels. */
function starts(length: number, tile: number): number[] {
  const result: number[] = [];
  for (let first = 0; first < length; first += tile) {
    for (let start = first; start + WINDOW <= first + tile; start += STEP) result.push(start);
  }
  return result;
}

function gaussian(): Float64Array {
  const centre = (WINDOW - 1) / 2;
  const raw = Float64Array.from({ length: WINDOW }, (_, index) =>
    Math.exp(-((index - centre) ** 2) / (2 * DEVIATION ** 2)),
  );
  const sum = raw.reduce((total, each) => total + each, 0);
  return raw.map((each) => each / sum);
}

/** Pixels of a tile's side: a superblock of AVIF. */
const TILE = 64;
/** 150,000 pixels. The more tiles, the closer is their mean SSIM to that of the picture, and the longer is a search. */
const MAX_TILES = 36;
/** The blocks of JPEG and WebP, with colour at half size. An aligned JPEG tile is encoded as in the whole picture. */
const ALIGNMENT = 16;

/** A small picture that stands for a large one: tiles at full resolution, evenly spread. A small picture is one tile. */
export function sampleOf(picture: Pixels): Tiled {
  const { pixels, width, height, channels } = picture;
  if (width * height <= MAX_TILES * TILE ** 2)
    return { ...picture, tileWidth: width, tileHeight: height, share: 1 };
  const [tileWidth, tileHeight] = [Math.min(TILE, width), Math.min(TILE, height)];
  const evenRows = Math.max(1, Math.round(Math.sqrt((MAX_TILES * height) / width)));
  const rows = Math.min(evenRows, MAX_TILES, Math.floor(height / tileHeight));
  const columns = Math.min(Math.floor(MAX_TILES / rows), Math.floor(width / tileWidth));
  const sample = { width: columns * tileWidth, height: rows * tileHeight, channels, tileWidth, tileHeight };
  const count = sample.width * sample.height;
  const taken = Buffer.alloc(count * channels);
  const lefts = tileStarts(width, tileWidth, columns);
  let end = 0;
  for (const top of tileStarts(height, tileHeight, rows)) {
    for (let y = top; y < top + tileHeight; y++) {
      for (const left of lefts) {
        const from = (y * width + left) * channels;
        end += pixels.copy(taken, end, from, from + tileWidth * channels);
      }
    }
  }
  return { ...sample, pixels: taken, share: count / (width * height) };
}

/** Where `count` tiles of `tile` pixels begin along a side of `length` pixels. */
function tileStarts(length: number, tile: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const start = ((index + 0.5) * length) / count - tile / 2;
    return start - (start % ALIGNMENT);
  });
}
