import { initializeCanvas, type Layer, type Psd, writePsdBuffer } from "ag-psd";
import { resource, section } from "./psd-samples.ts";

// It asks for a canvas only to make this.
initializeCanvas(
  () => {
    throw new Error("There is no canvas");
  },
  (width, height) => ({ width, height, data: new Uint8ClampedArray(width * height * 4), colorSpace: "srgb" }),
);

type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

/** Pixels of one colour. */
export function plain(width: number, height: number, colour: Rgba): NonNullable<Layer["imageData"]> {
  return {
    width,
    height,
    data: new Uint8ClampedArray(Buffer.alloc(width * height * 4, Buffer.from(colour))),
  };
}

/** A layer of one colour. */
export function layer(
  [left, top, width, height]: readonly [number, number, number, number],
  colour: Rgba,
  more: Layer = {},
): Layer {
  return { left, top, imageData: plain(width, height, colour), ...more };
}

/** A document without a merged picture, as "maximize compatibility" switched off leaves it. Written by ag-psd. */
export function layeredPsd(
  size: Pick<Psd, "width" | "height" | "patterns">,
  children: Layer[],
  options: { psb?: boolean; compress?: boolean } = {},
  iccProfile?: Buffer,
): Buffer {
  const versionInfo = { hasRealMergedData: false, writerName: "", readerName: "", fileVersion: 1 };
  const bytes = writePsdBuffer({ ...size, children, imageResources: { versionInfo } }, options);
  return iccProfile === undefined ? bytes : withResource(bytes, resource(1039, iccProfile));
}

/** ag-psd does not write profiles. */
function withResource(bytes: Buffer, block: Buffer): Buffer {
  // After the header and the colour mode data, which are empty in RGB.
  const lengthAt = 26 + 4;
  const resources = bytes.subarray(lengthAt + 4, lengthAt + 4 + bytes.readUInt32BE(lengthAt));
  const rest = bytes.subarray(lengthAt + 4 + resources.length);
  return Buffer.concat([bytes.subarray(0, lengthAt), section(Buffer.concat([resources, block])), rest]);
}
