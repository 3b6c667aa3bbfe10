import type { Layer as AgLayer, LayerMaskData } from "ag-psd";
import { type PsdHeader, truncatedPsd, unreadablePsd } from "../psd-header.ts";
import type { StoredRows } from "../stored-rows.ts";
import type { Layer, LayerChannels, LayerMask } from "./layer.ts";
import { areaOf, enclose, heightOf, type Rectangle, widthOf } from "./rectangle.ts";

/** Copied from ag-psd, from which only types can be imported before it is loaded. */
const ALPHA_CHANNEL = -1;
const MASK_CHANNEL = -2;

/**
 * Options for ag-psd. It decodes only the pixels of patterns, not those of layers. It ignores unknown blocks, because
 * it does not know most blocks of effects and texts.
 */
const READ_OPTIONS = {
  skipCompositeImageData: true,
  skipThumbnail: true,
  skipLinkedFilesData: true,
  useRawData: true,
  totalMemoryLimit: 32 * 1024 ** 2,
  // ag-psd would print warnings about unknown blocks.
  log: () => {},
};

/** Reads the layers of a file, from the lowest to the topmost. Rejects with `unsupported_media`. */
export async function readLayers(bytes: Buffer, header: PsdHeader): Promise<Layer[]> {
  const { readPsd } = await import("ag-psd");
  try {
    const { children = [] } = readPsd(inMemoryOfItsOwn(bytes), READ_OPTIONS);
    return children.map((layer) => convertLayer(layer, header));
  } catch (cause) {
    throw unreadablePsd("it holds no merged picture and its layers are damaged", cause);
  }
}

/** Copies the bytes, because ag-psd reads past the end of a view into a larger buffer. */
function inMemoryOfItsOwn(bytes: Buffer): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

function convertLayer(layer: AgLayer, header: PsdHeader): Layer {
  const { blendMode = "normal", opacity = 1, fillOpacity = 1, hidden = false, clipping = false } = layer;
  const common = { blendMode, visible: !hidden, clipped: clipping, mask: convertMask(layer, header) };
  if (layer.children === undefined) {
    const bounds = boundsOf(layer);
    const content = convertChannels(layer, bounds, header);
    return { ...common, opacity: opacity * fillOpacity, bounds, content };
  }
  const layers = layer.children.map((child) => convertLayer(child, header));
  const bounds = enclose(layers.map((child) => child.bounds));
  return { ...common, opacity, bounds, content: { kind: "group", layers } };
}

function convertChannels(layer: AgLayer, bounds: Rectangle, header: PsdHeader): LayerChannels {
  const ids = header.mode === "greyscale" ? [0] : [0, 1, 2];
  if (areaOf(bounds) === 0) return { kind: "channels", colours: [], alpha: null };
  const colours = ids.map((id) => {
    const stored = findChannel(layer, id, bounds, header);
    if (stored === null) throw truncatedPsd();
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
