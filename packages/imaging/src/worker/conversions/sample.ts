import type { Pixels } from "../libvips.ts";
import type { Tiled } from "./ssim.ts";

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
  const lefts = starts(width, tileWidth, columns);
  let end = 0;
  for (const top of starts(height, tileHeight, rows)) {
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
function starts(length: number, tile: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => {
    const start = ((index + 0.5) * length) / count - tile / 2;
    return start - (start % ALIGNMENT);
  });
}
