import { isError, isServiceError } from "@outrigger/core/values";
import sharp, { type Metadata } from "sharp";
import type { PictureLimits } from "../../shared/wire.ts";
import { readGifStructure } from "../gif/gif-blocks.ts";
import { withTransparentCanvas } from "../gif/transparent-gif.ts";
import { awaitLibvips } from "../libvips.ts";
import { type Picture, unreadable } from "../picture.ts";
import { isXmlCharacter } from "./doctype-entities.ts";
import { dataUrl, percentDecoded } from "./embedded-picture.ts";
import { resizedRoot } from "./resize-svg.ts";
import {
  declaredSize,
  type ExactSize,
  readSvgRoot,
  type SvgRoot,
  wholeSize,
  withBackgroundShape,
  withFontSize,
  writeSvgRoot,
} from "./svg-root.ts";
import { escapeAttribute, MAX_WRAPPED_BYTES, unescapeAttribute, wrapRaster } from "./svg-writer.ts";

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
  const header = sharp(writeSvgRoot(withFontSize(root)), { limitInputPixels: MAX_UNITS });
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
 * as a shape, its font size, and plain names in references; with the first frames of embedded GIFs as PNGs, and other
 * pictures upright; and so in embedded SVGs. A damaged GIF stays and is blank, and so do GIFs beyond the pixel limit of
 * all together.
 */
async function librsvgSource(root: SvgRoot, limits: PictureLimits): Promise<Buffer> {
  return convert(root, limits, { pixels: limits.maxPixels });
}

async function convert(root: SvgRoot, limits: PictureLimits, allowance: Allowance): Promise<Buffer> {
  const content = await withDrawablePictures(root, limits, allowance);
  return withDecodedReferences(writeSvgRoot(withBackgroundShape(withFontSize({ ...root, content }))));
}

/** Quotes of style sheets, and escaped ones of attributes. */
const URL_OF_PART = /\burl\(\s*(?:["']|&quot;)?#([^"'()<]*)(?:["']\s*)?\)/gi;
const LINK_TO_PART = /href="#([^"]*)"/g;

/** Writes out percent escapes in references to parts of the document, which librsvg takes as they are. */
function withDecodedReferences(svg: Buffer): Buffer {
  if (!svg.includes("%")) return svg;
  const decoded = (part: string) => {
    const name = percentDecoded(Buffer.from(part)).toString();
    // No part has a name that XML forbids.
    return [...name].every((character) => isXmlCharacter(character.codePointAt(0) ?? 0)) ? name : part;
  };
  const text = svg
    .toString()
    .replace(URL_OF_PART, (url: string, escaped: string) => {
      if (!escaped.includes("%")) return url;
      const part = decoded(unescapeAttribute(escaped).trimEnd().replace(/"$/, ""));
      return escapeAttribute(`url('#${part.replace(/['\\]/g, "\\$&").replaceAll("\n", "\\a ")}')`);
    })
    .replace(
      LINK_TO_PART,
      (_, part: string) => `href="#${escapeAttribute(decoded(unescapeAttribute(part)))}"`,
    );
  return Buffer.from(text);
}

/** The turns of EXIF orientations, as the first four numbers of a matrix. */
const TURNS: Readonly<Record<number, readonly [a: number, b: number, c: number, d: number]>> = {
  ...{ 2: [-1, 0, 0, 1], 3: [-1, 0, 0, -1], 4: [1, 0, 0, -1] },
  ...{ 5: [0, 1, 1, 0], 6: [0, 1, -1, 0], 7: [0, -1, -1, 0], 8: [0, -1, 1, 0] },
};

/** A picture on its side in an SVG that turns it, as librsvg ignores EXIF; `null` if it is upright or damaged. */
async function turnedPicture(bytes: Buffer, type: "image/png" | "image/jpeg"): Promise<string | null> {
  if (!bytes.includes("Exif") && !bytes.includes("eXIf")) return null;
  const header = sharp(bytes).metadata();
  const { orientation = 1, width = 0, height = 0 } = await header.catch(() => ({}) as Partial<Metadata>);
  const turn = TURNS[orientation];
  if (turn === undefined) return null;
  const [a, b, c, d] = turn;
  const moved = [Math.max(0, -a * width - c * height), Math.max(0, -b * width - d * height)];
  const size = a === 0 ? { width: height, height: width } : { width, height };
  const svg = wrapRaster(bytes, type, size, { width, height, transform: `matrix(${[...turn, ...moved]})` });
  return svg.length > MAX_WRAPPED_BYTES ? null : dataUrl("image/svg+xml", svg);
}

const AS_STORED = "image-orientation:none";

/** The tag around a position. Attributes of a clean document hold no angle brackets. */
function tagAround(content: Buffer, at: number): Buffer {
  return content.subarray(content.lastIndexOf("<", at), content.indexOf(">", at));
}

/** Whether more than single pictures may keep their EXIF orientation: by the root, a group or a style sheet. */
function isUnturned({ attributes, content }: SvgRoot): boolean {
  if (attributes.get("style")?.includes(AS_STORED)) return true;
  for (let at = content.indexOf(AS_STORED); at >= 0; ) {
    if (!/^<(?:image|feImage) /.test(tagAround(content, at).toString("latin1", 0, 9))) return true;
    at = content.indexOf(AS_STORED, content.indexOf(">", at));
  }
  return false;
}

async function withDrawablePictures(
  root: SvgRoot,
  limits: PictureLimits,
  allowance: Allowance,
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  const { content } = root;
  const isTurned = !isUnturned(root);
  let copied = 0;
  for (let at = content.indexOf(START); at >= 0; at = content.indexOf(START, at + START.length)) {
    const start = at + 'href="'.length;
    const end = content.indexOf('"', start);
    const head = content.toString("latin1", start, start + 20);
    const [, type] = /^data:(image\/(?:gif|svg\+xml|png|jpeg));/.exec(head) ?? [];
    if (type === undefined) continue;
    const bytes = Buffer.from(content.toString("latin1", content.indexOf(",", start) + 1, end), "base64");
    const url = await (type === "image/gif"
      ? drawableGif(bytes, limits, allowance)
      : type === "image/svg+xml"
        ? drawableSvg(bytes, limits, allowance)
        : isTurned && (type === "image/png" || type === "image/jpeg")
          ? turnedPicture(bytes, type)
          : null);
    if (url === null || (/png|jpeg/.test(type) && tagAround(content, start).includes(AS_STORED))) continue;
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
