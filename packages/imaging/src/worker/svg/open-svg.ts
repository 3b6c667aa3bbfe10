import { isServiceError } from "@outrigger/core";
import { isError } from "@outrigger/core/values";
import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { readGifStructure } from "../gif/gif-blocks.ts";
import { withTransparentCanvas } from "../gif/transparent-gif.ts";
import { awaitLibvips } from "../libvips.ts";
import { type Picture, unreadable } from "../picture.ts";
import { dataUrl } from "./embedded-picture.ts";
import { resizedRoot } from "./resize-svg.ts";
import {
  declaredSize,
  type ExactSize,
  readSvgRoot,
  type SvgRoot,
  wholeSize,
  withBackgroundShape,
  writeSvgRoot,
} from "./svg-root.ts";
import { MAX_WRAPPED_BYTES } from "./svg-writer.ts";

const TYPE = "image/svg+xml";

/** The largest area that librsvg can address. A size costs nothing until it is drawn. */
const MAX_UNITS = 32_767 ** 2;

/** Opens an SVG; a document that is not clean is cleaned first. It is drawn at exactly the requested size. */
export async function openSvg(bytes: Buffer, limits: PictureLimits): Promise<Picture> {
  const root = readSvgRoot(bytes);
  const exact = declaredSize(root) ?? (await measure(root, limits));
  const natural = wholeSize(exact);
  return {
    natural,
    frames: 1,
    pages: 1,
    scalable: true,
    async decode({ drawnAs = natural } = {}) {
      const drawing = await librsvgSource(resizedRoot(root, drawnAs, exact), limits);
      return sharp(drawing, { failOn: "warning", limitInputPixels: limits.maxPixels });
    },
  };
}

/** The size that librsvg computes from style sheets, fonts, or the box around everything drawn. */
async function measure(root: SvgRoot, limits: PictureLimits): Promise<ExactSize> {
  const header = sharp(writeSvgRoot(root), { limitInputPixels: MAX_UNITS });
  try {
    const { width, height } = await awaitLibvips(TYPE, limits, header.metadata());
    return { width, height };
  } catch (error) {
    const isUnsized =
      isServiceError(error) && isError(error.cause) && error.cause.message.includes("bad dimensions");
    throw isUnsized ? unreadable(TYPE, "it has no size, and nothing in it has one", error) : error;
  }
}

const START = 'href="data:image/';

/** Pixels of all GIFs in a document that may still be decoded. */
interface Allowance {
  pixels: number;
}

/**
 * A clean document in a form that sharp's librsvg draws as browsers draw the original: with the background of the root
 * as a shape, with the first frames of embedded GIFs as PNGs, and so in embedded SVGs. A damaged GIF stays and is blank,
 * and so do GIFs beyond the pixel limit of all together.
 */
async function librsvgSource(root: SvgRoot, limits: PictureLimits): Promise<Buffer> {
  return convert(root, limits, { pixels: limits.maxPixels });
}

async function convert(root: SvgRoot, limits: PictureLimits, allowance: Allowance): Promise<Buffer> {
  const content = await withDrawablePictures(root.content, limits, allowance);
  return writeSvgRoot(withBackgroundShape({ ...root, content }));
}

async function withDrawablePictures(
  content: Buffer,
  limits: PictureLimits,
  allowance: Allowance,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (let at = content.indexOf(START); at >= 0; at = content.indexOf(START, at + START.length)) {
    const start = at + 'href="'.length;
    const end = content.indexOf('"', start);
    const [, type] = /^data:image\/(gif|svg\+xml);/.exec(content.toString("latin1", start, start + 20)) ?? [];
    if (type === undefined) continue;
    const bytes = Buffer.from(content.toString("latin1", content.indexOf(",", start) + 1, end), "base64");
    const url = await (type === "gif"
      ? drawableGif(bytes, limits, allowance)
      : drawableSvg(bytes, limits, allowance));
    if (url === null) continue;
    pieces.push(content.subarray(copied, start), Buffer.from(url, "latin1"));
    copied = end;
  }
  return copied === 0 ? content : Buffer.concat([...pieces, content.subarray(copied)]);
}

/** An embedded SVG in the same form; `null` if it is longer than XML parsers accept. */
async function drawableSvg(
  bytes: Buffer,
  limits: PictureLimits,
  allowance: Allowance,
): Promise<string | null> {
  const drawable = await convert(readSvgRoot(bytes), limits, allowance);
  return drawable.length > MAX_WRAPPED_BYTES ? null : dataUrl("image/svg+xml", drawable);
}

/** The first frame of a GIF as PNG; `null` if it is damaged, beyond the limit, or longer than XML parsers accept. */
async function drawableGif(gif: Buffer, limits: PictureLimits, allowance: Allowance): Promise<string | null> {
  const pixels = pixelsOf(gif);
  if (pixels > allowance.pixels) return null;
  try {
    const { bytes } = withTransparentCanvas(gif, false);
    const frame = sharp(bytes, { failOn: "error", limitInputPixels: limits.maxPixels });
    const png = await awaitLibvips("image/gif", limits, frame.png().toBuffer());
    if (png.length > MAX_WRAPPED_BYTES) return null;
    allowance.pixels -= pixels;
    return dataUrl("image/png", png);
  } catch (error) {
    if (isServiceError(error)) return null;
    throw error;
  }
}

/** Pixels of the GIF's screen; infinite for a damaged GIF. */
function pixelsOf(gif: Buffer): number {
  try {
    const { width, height } = readGifStructure(gif);
    return width * height;
  } catch (error) {
    if (isServiceError(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
