import { compressRows, PSD_COMPRESSIONS, rowsOf, section } from "./psd-samples.ts";

/** A layer of one colour. */
export interface PlainLayer {
  top?: number;
  left?: number;
  width: number;
  height: number;
  /** What every sample of a channel is, by its number: -1 is alpha. */
  samples: Record<number, number>;
  compression?: keyof typeof PSD_COMPRESSIONS;
}

/** The content of a section of layers, written by the specification alone. */
export function layerSection(layers: readonly PlainLayer[], depth: 8 | 16, large = false): Buffer {
  const count = Buffer.alloc(2);
  count.writeInt16BE(layers.length);
  const channels = layers.map((layer) => channelsOf(layer, depth, large));
  const records = layers.map((layer, index) => recordOf(layer, channels[index] ?? [], large));
  const info = Buffer.concat([count, ...records, ...channels.flatMap((all) => all.map(({ data }) => data))]);
  const padded = Buffer.concat([info, Buffer.alloc((4 - (info.length % 4)) % 4)]);
  if (depth === 8) return Buffer.concat([section(padded, large), section(Buffer.alloc(0))]);
  const nothing = [section(Buffer.alloc(0), large), section(Buffer.alloc(0))];
  return Buffer.concat([...nothing, Buffer.from(`8BIMLr${depth}`, "latin1"), section(padded, large)]);
}

interface Channel {
  id: number;
  data: Buffer;
}

function channelsOf(layer: PlainLayer, depth: 8 | 16, large: boolean): Channel[] {
  const { width, height, samples, compression = "packed" } = layer;
  return Object.entries(samples).map(([id, sample]) => {
    const rows = rowsOf(new Array<number>(width * height).fill(sample), width, depth);
    const packed = compressRows(rows, compression, depth, large);
    return { id: Number(id), data: Buffer.concat([Buffer.of(0, PSD_COMPRESSIONS[compression]), packed]) };
  });
}

function recordOf(layer: PlainLayer, channels: readonly Channel[], large: boolean): Buffer {
  const { top = 0, left = 0, width, height } = layer;
  const bounds = Buffer.alloc(18);
  [top, left, top + height, left + width].forEach((edge, index) => {
    bounds.writeInt32BE(edge, index * 4);
  });
  bounds.writeUInt16BE(channels.length, 16);
  const lengths = channels.map(({ id, data }) => {
    const entry = Buffer.alloc(large ? 10 : 6);
    entry.writeInt16BE(id);
    entry.writeUInt32BE(data.length, large ? 6 : 2);
    return entry;
  });
  // Opaque, neither clipped nor hidden; no mask, no blending ranges, no name.
  const rest = Buffer.from(`8BIMnorm\xff\0\0\0\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0`, "latin1");
  return Buffer.concat([bounds, ...lengths, rest]);
}
