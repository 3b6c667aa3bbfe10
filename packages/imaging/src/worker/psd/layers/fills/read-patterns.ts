import { type LayerBlock, readLayerBlocks } from "../../layer-blocks.ts";
import type { ColourMode, Depth } from "../../psd-header.ts";
import type { StoredRows } from "../../stored-rows.ts";

/** A pattern in a file, not unpacked yet. */
export interface StoredPattern {
  mode: Extract<ColourMode, "greyscale" | "indexed" | "rgb" | "cmyk" | "lab">;
  width: number;
  height: number;
  /** 256 colours of three bytes each; empty unless indexed. */
  palette: Buffer;
  channels: readonly StoredRows[];
  alpha: StoredRows | null;
}

const PATTERN_KEYS = new Set(["Patt", "Pat2", "Pat3"]);
const modes = new Map<number, { mode: StoredPattern["mode"]; channels: number }>([
  [1, { mode: "greyscale", channels: 1 }],
  [2, { mode: "indexed", channels: 1 }],
  [3, { mode: "rgb", channels: 3 }],
  [4, { mode: "cmyk", channels: 4 }],
  [9, { mode: "lab", channels: 3 }],
]);
const PALETTE_BYTES = 768;
/** Channels of a pattern with the two of its masks. */
const MAX_CHANNELS = 58;

/**
 * Finds a pattern by its ID among the blocks after the layers. `null` when the file does not hold it, or in a form that
 * is not documented.
 *
 * Source: Adobe Photoshop File Formats Specification, "Patterns" and "Virtual Memory Array List".
 */
export function findPattern(layers: Buffer, large: boolean, id: string): StoredPattern | null {
  for (const block of readLayerBlocks(layers, large)) {
    if (!PATTERN_KEYS.has(block.key)) continue;
    for (const pattern of patternsIn(block)) {
      try {
        const found = readPattern(pattern, id);
        if (found !== null) return found;
      } catch (error) {
        // A read past the end: the pattern is damaged, and the next one may not be.
        if (!(error instanceof RangeError)) throw error;
      }
    }
  }
  return null;
}

function* patternsIn({ data }: LayerBlock): Generator<Buffer, void> {
  for (let at = 0; at + 4 <= data.length; ) {
    const length = data.readUInt32BE(at);
    yield data.subarray(at + 4, at + 4 + length);
    at += 4 + length + ((4 - (length % 4)) % 4);
  }
}

function readPattern(data: Buffer, id: string): StoredPattern | null {
  const known = modes.get(data.readUInt32BE(4));
  const nameEnd = 16 + data.readUInt32BE(12) * 2;
  const idEnd = nameEnd + 1 + data.readUInt8(nameEnd);
  if (known === undefined || data.toString("latin1", nameEnd + 1, idEnd) !== id) return null;
  const hasPalette = known.mode === "indexed";
  const palette = data.subarray(idEnd, idEnd + (hasPalette ? PALETTE_BYTES : 0));
  // A version and a length come before the bounds.
  const boundsAt = idEnd + (hasPalette ? PALETTE_BYTES + 4 : 0) + 8;
  const [top, left, bottom, right] = edgesAt(data, boundsAt);
  const count = Math.min(MAX_CHANNELS, data.readUInt32BE(boundsAt + 16) + 2);
  const planes = readPlanes(data, boundsAt + 20, count);
  const channels = planes.slice(0, known.channels);
  const [width, height] = [right - left, bottom - top];
  const complete =
    channels.length === known.channels &&
    planes.every((plane) => plane.width === width && plane.rows === height && plane.depth !== 1);
  if (!complete || width < 1 || height < 1) return null;
  return { mode: known.mode, width, height, palette, channels, alpha: planes[known.channels] ?? null };
}

/** The channels that are present among `count`. */
function readPlanes(data: Buffer, start: number, count: number): StoredRows[] {
  const planes: StoredRows[] = [];
  let at = start;
  for (let index = 0; index < count; index++) {
    const isWritten = data.readUInt32BE(at) !== 0;
    const length = isWritten ? data.readUInt32BE(at + 4) : 0;
    if (length > 0) planes.push(readPlane(data.subarray(at + 8, at + 8 + length)));
    at += isWritten ? 8 + length : 4;
  }
  return planes;
}

function readPlane(data: Buffer): StoredRows {
  const [top, left, bottom, right] = edgesAt(data, 4);
  return {
    compression: data.readUInt8(22),
    data: data.subarray(23),
    rows: bottom - top,
    width: right - left,
    depth: depthOf(data.readUInt32BE(0)),
    longCounts: false,
  };
}

/** An unknown depth becomes 1, which patterns do not have. */
function depthOf(bits: number): Depth {
  return bits === 8 || bits === 16 || bits === 32 ? bits : 1;
}

function edgesAt(data: Buffer, at: number): [top: number, left: number, bottom: number, right: number] {
  return [0, 4, 8, 12].map((offset) => data.readInt32BE(at + offset)) as [number, number, number, number];
}

/** How a pattern is laid into a layer. */
export interface PatternShape {
  /** 1 for the pattern's own size. */
  scale: number;
  /** Degrees, counter-clockwise. */
  angle: number;
}

const MIN_SCALE = 0.01;
const MAX_SCALE = 10;

/**
 * Reads scale and angle of each pattern that fills a layer, in the order of the layers. ag-psd does not read them. A
 * block begins with its signature and key; that of a shape repeats the key after its length.
 */
export function readPatternShapes(layers: Buffer): PatternShape[] {
  const shapes: PatternShape[] = [];
  for (let at = layers.indexOf("PtFl"); at >= 0; at = layers.indexOf("PtFl", at + 4)) {
    const isBlock = at >= 4 && layers.toString("latin1", at - 4, at) === "8BIM";
    const isShape = at >= 12 && layers.toString("latin1", at - 12, at - 4) === "8BIMvscg";
    const lengthAt = isBlock ? at + 4 : at - 4;
    if ((!isBlock && !isShape) || lengthAt + 4 > layers.length) continue;
    const block = layers.subarray(lengthAt + 4, lengthAt + 4 + layers.readUInt32BE(lengthAt));
    const scale = numberAfter(block, "Scl UntF#Prc", 100) / 100;
    shapes.push({
      scale: Math.min(MAX_SCALE, Math.max(MIN_SCALE, scale)),
      angle: numberAfter(block, "AnglUntF#Ang", 0) % 360,
    });
  }
  return shapes;
}

function numberAfter(block: Buffer, key: string, otherwise: number): number {
  const at = block.indexOf(key) + key.length;
  if (at < key.length || at + 8 > block.length) return otherwise;
  const value = block.readDoubleBE(at);
  return Number.isFinite(value) ? value : otherwise;
}
