import sharp from "sharp";
import { moverTo8Bits } from "../../sample-rows.ts";
import { checkStoredRows, type StoredRows, visitRows } from "../../stored-rows.ts";
import { heightOf, type Rectangle, widthOf } from "../rectangle.ts";
import type { Samples } from "./colour.ts";
import type { StoredPattern } from "./read-patterns.ts";

/** A pattern that fills a layer. */
export interface Pattern {
  kind: "pattern";
  stored: StoredPattern;
  /** Size of the pattern in the layer, 1 for its own. */
  scale: number;
  /** Degrees, counter-clockwise. */
  angle: number;
  /** A corner of the pattern, in pixels of the canvas. */
  origin: { x: number; y: number };
  /** The samples of the layer for a pixel of the pattern: one value for each of its channels. */
  convert(pixel: readonly number[]): Samples;
}

/** Pixels of a pattern as it is drawn: RGBA, row by row. */
interface Tile {
  width: number;
  height: number;
  pixels: Buffer;
}

/** Checks that a pattern is complete. Returns the pixels that it takes. Throws `unsupported_media`. */
export function checkPattern({ stored, scale }: Pattern): number {
  const { width, height, channels, alpha } = stored;
  for (const plane of alpha === null ? channels : [...channels, alpha]) checkStoredRows(plane);
  return width * height * Math.max(1, scale * scale);
}

/** Draws the part of a pattern within `area` as 8-bit RGBA. Rejects with `unsupported_media` for damaged pixels. */
export async function drawPattern(pattern: Pattern, area: Rectangle): Promise<Buffer> {
  const tile = await (tiles.get(pattern) ?? prepareTile(pattern));
  const pixels = Buffer.allocUnsafe(widthOf(area) * heightOf(area) * 4);
  const angle = (pattern.angle * Math.PI) / 180;
  const [cosine, sine] = [Math.cos(angle), Math.sin(angle)];
  const { origin } = pattern;
  let to = 0;
  for (let y = area.top; y < area.bottom; y++) {
    for (let x = area.left; x < area.right; x++, to += 4) {
      const [right, down] = [x + 0.5 - origin.x, y + 0.5 - origin.y];
      const column = wrap(right * cosine - down * sine, tile.width);
      const row = wrap(right * sine + down * cosine, tile.height);
      const from = (row * tile.width + column) * 4;
      pixels[to] = tile.pixels[from] ?? 0;
      pixels[to + 1] = tile.pixels[from + 1] ?? 0;
      pixels[to + 2] = tile.pixels[from + 2] ?? 0;
      pixels[to + 3] = tile.pixels[from + 3] ?? 0;
    }
  }
  return pixels;
}

/** Kept while a picture is drawn band by band. */
const tiles = new WeakMap<Pattern, Promise<Tile>>();

function prepareTile(pattern: Pattern): Promise<Tile> {
  const tile = unpackTile(pattern).then((own) => scaleTile(own, pattern.scale));
  tiles.set(pattern, tile);
  return tile;
}

/** The index among `size` that repeats in both directions. */
function wrap(position: number, size: number): number {
  const index = Math.floor(position) % size;
  return index < 0 ? index + size : index;
}

async function unpackTile({ stored, convert }: Pattern): Promise<Tile> {
  const { width, height, channels, alpha, palette } = stored;
  const planes: Buffer[] = [];
  for (const channel of channels) planes.push(await unpackPlane(channel, false));
  const opacity = alpha === null ? null : await unpackPlane(alpha, true);
  const pixels = Buffer.alloc(width * height * 4);
  for (let index = 0; index < width * height; index++) {
    const samples = planes.map((plane) => plane[index] ?? 0);
    const start = (samples[0] ?? 0) * 3;
    const pixel = stored.mode === "indexed" ? [...palette.subarray(start, start + 3)] : samples;
    pixels.set(convert(pixel), index * 4);
    pixels[index * 4 + 3] = opacity === null ? 255 : (opacity[index] ?? 0);
  }
  return { width, height, pixels };
}

async function unpackPlane(stored: StoredRows, linear: boolean): Promise<Buffer> {
  const { width, rows, depth } = stored;
  const plane = Buffer.alloc(width * rows);
  const move = moverTo8Bits(depth, linear);
  await visitRows(stored, { first: 0, end: rows }, (row, source, start) => {
    move(source, start, width, plane, row * width, 1);
  });
  return plane;
}

async function scaleTile(tile: Tile, scale: number): Promise<Tile> {
  const width = Math.max(1, Math.round(tile.width * scale));
  const height = Math.max(1, Math.round(tile.height * scale));
  if (width === tile.width && height === tile.height) return tile;
  const pixels = await sharp(tile.pixels, { raw: { width: tile.width, height: tile.height, channels: 4 } })
    .resize(width, height, { fit: "fill" })
    .raw()
    .toBuffer();
  return { width, height, pixels };
}
