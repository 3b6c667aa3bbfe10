import type { FoundPlace, Layout, OriginalType, RenditionSpec, Size } from "@outrigger/core/images";
import sharp from "sharp";
import { clamp, fitSquare, type Placement } from "../shared/fit.ts";
import { isAnimated, renditionLayout } from "../shared/measure.ts";
import type { PictureLimits } from "../shared/wire.ts";
import { type Conversion, uprightPixels } from "./conversions/conversion.ts";
import { edited } from "./conversions/edited.ts";
import { toPdf } from "./conversions/to-pdf.ts";
import { toRaster } from "./conversions/to-raster.ts";
import { toSvg } from "./conversions/to-svg.ts";
import { awaitLibvips, readPixels } from "./libvips.ts";
import { openPicture } from "./open-picture.ts";
import type { Picture } from "./picture.ts";
import { stripRaster } from "./privacy/strip-raster.ts";
import { writePsd } from "./psd/write-psd.ts";
import { cleanSvg } from "./svg/clean-svg.ts";
import { frameSvg } from "./svg/resize-svg.ts";

/** `Renderer.render`, in the worker. */
export async function render(
  bytes: Buffer,
  type: OriginalType,
  spec: RenditionSpec,
  limits: PictureLimits,
): Promise<Buffer> {
  const source = { bytes: withoutMetadata(bytes, type, spec), type, spec, limits };
  const picture = await openPicture(source.bytes, type, limits, spec.page);
  const { natural, frames } = picture;
  const layout = renditionLayout({ type, natural, frames }, spec, limits);
  return convertPicture(picture, source, layout, isAnimated(spec.format, frames));
}

type Source = Pick<Conversion, "bytes" | "type" | "spec" | "limits">;

/** How a clean SVG refers to its pictures. */
const EMBEDDED = 'href="data:image/';

/**
 * An original of which parts may be copied into an SVG or a PDF. Stored JPEGs have gain maps, and stored originals have metadata where
 * the host keeps it, as have pictures in SVGs.
 */
function withoutMetadata(bytes: Buffer, type: OriginalType, { format }: RenditionSpec): Buffer {
  if (format !== "svg" && format !== "pdf") return bytes;
  if (type === "image/svg+xml") return bytes.includes(EMBEDDED) ? cleanSvg(bytes) : bytes;
  if (type === "application/pdf" || type === "image/x-photoshop") return bytes;
  return stripRaster(bytes)?.bytes ?? bytes;
}

async function convertPicture(
  picture: Picture,
  source: Source,
  { drawn, ...size }: Layout,
  animated: boolean,
): Promise<Buffer> {
  const { type, limits } = source;
  const { background, ...spec } = source.spec;
  const found = drawn !== undefined && "at" in drawn ? await findPlace(picture, drawn, size, source) : drawn;
  const placed = found ?? null;
  if (type !== "image/svg+xml" || (placed === null && background === undefined)) {
    return convert({ ...source, picture, size, placed, animated, isEdited: false });
  }
  // Cut as a drawing, so that only the visible part becomes pixels, and vectors stay vectors.
  const frame = { size, placed: placed ?? { ...size, left: 0, top: 0 }, background };
  const bytes = frameSvg(source.bytes, picture.natural, frame);
  const framed = await openPicture(bytes, type, limits);
  return convert({
    bytes,
    type,
    spec,
    limits,
    picture: framed,
    size,
    placed: null,
    animated,
    isEdited: false,
  });
}

async function convert(unedited: Conversion): Promise<Buffer> {
  const conversion = await edited(unedited);
  const { format } = conversion.spec;
  switch (format) {
    case "svg":
      return toSvg(conversion);
    case "psd":
      return toPsd(conversion);
    case "pdf":
      return toPdf(conversion);
    default:
      return toRaster(conversion, format);
  }
}

/** A Photoshop document of one layer. */
async function toPsd(conversion: Conversion): Promise<Buffer> {
  const { type, limits } = conversion;
  const { pixels, ...size } = await readPixels(await uprightPixels(conversion), type, limits);
  return writePsd(pixels, size);
}

/** Pixels of the longer side on which a place is searched. The search takes time in proportion to the pixels. */
const SEARCHED_SIDE = 512;

/** Finds the part of `size` in the first frame of a picture that is drawn as `drawn`. */
async function findPlace(
  picture: Picture,
  drawn: Size & { at: FoundPlace },
  size: Size,
  { type, limits }: { type: OriginalType; limits: PictureLimits },
): Promise<Placement> {
  const { width, height, at } = drawn;
  const reduced = fitSquare(drawn, SEARCHED_SIDE);
  const image = (await picture.decode({ drawnAs: reduced })).resize({ ...reduced, fit: "fill" });
  const { pixels, channels } = await readPixels(image, type, limits);
  const window = {
    width: clamp(Math.round((size.width * reduced.width) / width), 1, reduced.width),
    height: clamp(Math.round((size.height * reduced.height) / height), 1, reduced.height),
  };
  const search = sharp(pixels, { raw: { ...reduced, channels } })
    .resize({ ...window, fit: "cover", position: sharp.strategy[at] })
    .raw();
  const { info } = await awaitLibvips(type, limits, search.toBuffer({ resolveWithObject: true }));
  // sharp gives the offset of the picture in the window: negative.
  const { cropOffsetLeft = 0, cropOffsetTop = 0 } = info;
  const left = Math.round((-cropOffsetLeft * width) / reduced.width);
  const top = Math.round((-cropOffsetTop * height) / reduced.height);
  return {
    width,
    height,
    left: clamp(left, 0, width - size.width),
    top: clamp(top, 0, height - size.height),
  };
}
