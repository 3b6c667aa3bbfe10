import type { Layer as AgLayer, LayerMaskData } from "ag-psd";
import { damaged } from "../../picture.ts";
import type { PsdHeader } from "../psd-header.ts";
import type { StoredRows } from "../stored-rows.ts";
import { type PaintContext, readPaint } from "./fills/read-paint.ts";
import { findPattern, type PatternShape, readPatternShapes } from "./fills/read-patterns.ts";
import type { Layer, LayerChannels, LayerMask } from "./layer.ts";
import { areaOf, enclose, heightOf, type Rectangle, widthOf } from "./rectangle.ts";
import { convertVectorMask, type VectorMask } from "./vector-mask.ts";

/** Copied from ag-psd, from which only types can be imported before it is loaded. */
const ALPHA_CHANNEL = -1;
const MASK_CHANNEL = -2;

/**
 * Options for ag-psd. It decodes neither the pixels of layers nor, without any memory for them, those of patterns. It
 * ignores unknown blocks, because it does not know most blocks of effects and texts.
 */
const READ_OPTIONS = {
  skipCompositeImageData: true,
  skipThumbnail: true,
  skipLinkedFilesData: true,
  useRawData: true,
  totalMemoryLimit: Number.NEGATIVE_INFINITY,
  // ag-psd would print warnings about unknown blocks.
  log: () => {},
};

/** A colour mode of the header that ag-psd knows, and the places of the mode and of the number of channels. */
const RGB_MODE = 3;
const CHANNELS_AT = 12;
const MODE_AT = 24;

/** The layers of a file, as ag-psd reads them. */
interface StoredLayers {
  layers: readonly AgLayer[];
  header: PsdHeader;
  /** The section of layers. */
  section: Buffer;
}

/** Reads the layers of a file, without their pixels. Rejects with `unsupported_media`. */
export async function readLayers(bytes: Buffer, header: PsdHeader, section: Buffer): Promise<StoredLayers> {
  const { readPsd } = await import("ag-psd");
  try {
    return { layers: readPsd(asRgb(bytes, header), READ_OPTIONS).children ?? [], header, section };
  } catch (cause) {
    throw damagedLayers(cause);
  }
}

function damagedLayers(cause: unknown): Error {
  return damaged("it holds no merged picture, and its layers cannot be read", cause);
}

/**
 * Copies the bytes where ag-psd needs it: it reads past the end of a view into a larger buffer, and rejects modes whose
 * pixels it cannot decode, although the layers of all modes are stored in the same way.
 */
function asRgb(bytes: Buffer, { mode }: PsdHeader): Uint8Array {
  const isKnown = mode === "rgb" || mode === "greyscale";
  if (isKnown && bytes.byteLength === bytes.buffer.byteLength) return bytes;
  const copy = new Uint8Array(bytes);
  if (isKnown) return copy;
  new DataView(copy.buffer).setUint16(MODE_AT, RGB_MODE);
  new DataView(copy.buffer).setUint16(CHANNELS_AT, 3);
  return copy;
}

/**
 * The layers of some channels of the document: three, or one that is drawn as grey. From the lowest to the topmost.
 * Throws `unsupported_media`.
 */
export function selectChannels(stored: StoredLayers, channels: readonly number[]): Layer[] {
  const { header, section } = stored;
  const canvas = { left: 0, top: 0, right: header.width, bottom: header.height };
  const context: Context = {
    header,
    channels,
    canvas,
    findPattern: (id) => findPattern(section, header.large, id),
    patternShapes: patternShapesOf(stored),
  };
  try {
    return stored.layers.map((layer) => convertLayer(layer, context));
  } catch (cause) {
    throw damagedLayers(cause);
  }
}

interface Context extends Pick<PaintContext, "header" | "channels" | "canvas" | "findPattern"> {
  patternShapes: ReadonlyMap<AgLayer, PatternShape>;
}

function patternShapesOf({ layers, section }: StoredLayers): ReadonlyMap<AgLayer, PatternShape> {
  const withPattern = layers.flatMap(leavesOf).filter(({ vectorFill }) => vectorFill?.type === "pattern");
  if (withPattern.length === 0) return new Map();
  const shapes = readPatternShapes(section);
  // Blocks are stored in the order of the layers.
  if (shapes.length !== withPattern.length) return new Map();
  return new Map(withPattern.map((layer, index) => [layer, shapes[index] ?? { scale: 1, angle: 0 }]));
}

function leavesOf(layer: AgLayer): AgLayer[] {
  return layer.children === undefined ? [layer] : layer.children.flatMap(leavesOf);
}

function convertLayer(layer: AgLayer, context: Context): Layer {
  const { blendMode = "normal", opacity = 1, fillOpacity = 1, hidden = false, clipping = false } = layer;
  const common = {
    blendMode,
    visible: !hidden,
    clipped: clipping,
    mask: convertMask(layer, context.header),
    vectorMask: vectorMaskOf(layer),
  };
  if (layer.children === undefined) {
    return {
      ...common,
      opacity: opacity * fillOpacity,
      ...convertContent(layer, common.vectorMask, context),
    };
  }
  const layers = layer.children.map((child) => convertLayer(child, context));
  const bounds = enclose(layers.map((child) => child.bounds));
  return { ...common, opacity, bounds, content: { kind: "group", layers } };
}

/** The vector mask, unless the pixels or the mask of the layer were drawn with it. */
function vectorMaskOf(layer: AgLayer): VectorMask | null {
  const { vectorMask, mask, realMask, vectorFill } = layer;
  const isDrawn = mask?.fromVectorData || realMask !== undefined || (vectorFill && hasPixels(layer));
  return vectorMask === undefined || isDrawn
    ? null
    : convertVectorMask(vectorMask, mask?.vectorMaskDensity ?? 1);
}

function hasPixels(layer: AgLayer): boolean {
  const channels = layer.rawData?.channels ?? [];
  return (
    areaOf(boundsOf(layer)) > 0 && channels.some(({ id, data }) => (id as number) >= 0 && data !== undefined)
  );
}

function convertContent(
  layer: AgLayer,
  vectorMask: VectorMask | null,
  context: Context,
): Pick<Layer, "bounds" | "content"> {
  const { vectorFill, vectorStroke } = layer;
  const bounds = boundsOf(layer);
  if (vectorFill === undefined || vectorStroke?.fillEnabled === false || hasPixels(layer)) {
    return { bounds, content: convertChannels(layer, bounds, context) };
  }
  const own = areaOf(bounds) > 0 ? bounds : context.canvas;
  const paint = readPaint(vectorFill, {
    ...context,
    box: vectorMask?.bounds ?? own,
    patternShape: context.patternShapes.get(layer) ?? { scale: 1, angle: 0 },
  });
  if (typeof paint !== "string") return { bounds: own, content: { kind: "fill", paint } };
  return { bounds: enclose([]), content: { kind: "omitted", reason: paint } };
}

function convertChannels(layer: AgLayer, bounds: Rectangle, { header, channels }: Context): LayerChannels {
  if (areaOf(bounds) === 0) return { kind: "channels", colours: [], alpha: null };
  const colours = channels.map((id) => {
    const stored = findChannel(layer, id, bounds, header);
    if (stored === null) throw damaged();
    return stored;
  });
  return { kind: "channels", colours, alpha: findChannel(layer, ALPHA_CHANNEL, bounds, header) };
}

function convertMask(layer: AgLayer, header: PsdHeader): LayerMask | null {
  const { mask } = layer;
  if (mask === undefined || mask.disabled) return null;
  const bounds = boundsOf(mask);
  return {
    bounds,
    outside: mask.defaultColor ?? 0,
    density: mask.userMaskDensity ?? 1,
    stored: areaOf(bounds) === 0 ? null : findChannel(layer, MASK_CHANNEL, bounds, header),
  };
}

function findChannel(layer: AgLayer, id: number, bounds: Rectangle, header: PsdHeader): StoredRows | null {
  // The type is a const enum, which cannot be compared with numbers.
  const channel = layer.rawData?.channels.find((candidate) => (candidate.id as number) === id);
  if (channel?.data === undefined) return null;
  const { buffer, byteOffset, byteLength } = channel.data;
  return {
    compression: channel.compression,
    data: Buffer.from(buffer, byteOffset, byteLength),
    rows: heightOf(bounds),
    width: widthOf(bounds),
    depth: header.depth,
    longCounts: header.large,
  };
}

function boundsOf({ left = 0, top = 0, right = 0, bottom = 0 }: AgLayer | LayerMaskData): Rectangle {
  return { left, top, right, bottom };
}
