import { isServiceError } from "@outrigger/core";
import sharp from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { awaitLibvips } from "../libvips.ts";
import type { Picture } from "../picture.ts";
import { unreadable } from "../unreadable.ts";
import { librsvgSource } from "./librsvg-source.ts";
import { resizedRoot } from "./resize-svg.ts";
import { readSvgRoot, type SvgRoot, writeSvgRoot } from "./svg-root.ts";
import { declaredSize, type ExactSize, wholeSize } from "./svg-size.ts";

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
    const isUnsized = isServiceError(error) && error.message.includes("bad dimensions");
    throw isUnsized ? unreadable(TYPE, "it has no size, and nothing in it has one", error) : error;
  }
}
