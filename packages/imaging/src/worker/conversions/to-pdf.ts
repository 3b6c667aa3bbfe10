import type { Size } from "@outrigger/core/images";
import { isServiceError } from "@outrigger/core/values";
import sharp, { type Sharp } from "sharp";
import { fitInside, fitSquare } from "../../shared/fit.ts";
import { isSized } from "../../shared/measure.ts";
import { awaitLibvips, readPixels } from "../libvips.ts";
import { hasLayers } from "../pdf/layers.ts";
import { openPdf, PIXELS_PER_POINT } from "../pdf/open-pdf.ts";
import { transformPdf } from "../pdf/transform-pdf.ts";
import { pdfOfJpeg, pdfOfPixels } from "../pdf/write-pdf.ts";
import { stripPdf } from "../privacy/strip-pdf.ts";
import { readSvgRoot, withBackgroundShape, writeSvgRoot } from "../svg/svg-root.ts";
import { type Conversion, isPlainRaster, keepsSize, uprightPixels } from "./conversion.ts";
import { encodedPixels } from "./to-raster.ts";

/** Pixels per point for a drawing that must become a raster: sharp on paper and on high-density screens. */
const DRAWN_DENSITY = 2;

/** A PDF at another size, or a page that holds the picture, with one point per pixel. */
export async function toPdf(conversion: Conversion): Promise<Buffer> {
  switch (conversion.type) {
    case "application/pdf":
      return transformed(conversion);
    case "image/jpeg":
      return jpegPage(conversion);
    case "image/svg+xml":
      return (await vectorPage(conversion)) ?? pixelPage(conversion);
    default:
      return pixelPage(conversion);
  }
}

/**
 * Scales all pages by the factor that fits the first (or the chosen) page into the box. A cut page, and one of a document with
 * layers, becomes a picture.
 */
async function transformed(conversion: Conversion): Promise<Buffer> {
  const { bytes, picture, size, placed, spec } = conversion;
  const scale = isSized(spec) ? size.width / picture.natural.width : 1;
  const isChanged = scale !== 1 || (spec.page !== undefined && picture.pages > 1);
  if (placed !== null || (isChanged && (await hasLayers(bytes)))) {
    return pixelPage({ ...conversion, pixelsPerPoint: PIXELS_PER_POINT });
  }
  const pdf = await transformPdf(bytes, { ...(spec.page === undefined ? {} : { page: spec.page }), scale });
  // Pages have metadata if the host keeps it, or if an older version admitted them. Only an upload is refused for it.
  return Buffer.concat((await stripPdf(pdf, { keepPdfActions: true, keepUnremovable: true })) ?? [pdf]);
}

/** Embeds a JPEG as it is if possible, so that it loses no more quality. */
async function jpegPage(conversion: Conversion): Promise<Buffer> {
  const { bytes, type, size, limits } = conversion;
  const isWhole = keepsSize(conversion) && (await isPlainRaster(bytes));
  const jpeg = isWhole ? bytes : await encodedPixels(conversion, "jpg", size);
  const { width, height, channels } = await awaitLibvips(type, limits, sharp(jpeg).metadata());
  return pdfOfJpeg(jpeg, { width, height, components: channels === 1 ? 1 : 3 }, size);
}

async function pixelPage(conversion: Conversion): Promise<Buffer> {
  const { type, picture, size, limits, pixelsPerPoint = 1 } = conversion;
  const drawnSize =
    picture.scalable && pixelsPerPoint === 1
      ? fitInside(size, {
          maxWidth: size.width * DRAWN_DENSITY,
          maxHeight: size.height * DRAWN_DENSITY,
          enlarge: true,
          maxSide: limits.maxSide,
          maxPixels: limits.maxOutputPixels,
        })
      : size;
  const image = await uprightPixels(conversion, { size: drawnSize });
  const { pixels, ...raster } = await readPixels(image, type, limits);
  return pdfOfPixels(pixels, raster, {
    width: size.width / pixelsPerPoint,
    height: size.height / pixelsPerPoint,
  });
}

/** Above this size the attempt costs more than a raster. */
const MAX_SVG_BYTES = 256 * 1024;

/** Elements that svg-to-pdfkit ignores. */
const UNSUPPORTED = /<(?:filter|mask|foreignObject|switch|animate|animateTransform|animateMotion|set)\b/;

/** A difference in a colour channel larger than any caused by different antialiasing. */
const VISIBLE_DIFFERENCE = 48;
/** Pixels that may differ visibly: corners and crossings. */
const MAX_DIFFERENT_SHARE = 0.001;
const MAX_MEAN_DIFFERENCE = 1.5;
/** Pixels of the longer side at which a vector page is compared with the drawing. Small details are still visible. */
const PROOF_SIDE = 512;

/** An SVG as a one-page vector PDF if that looks the same; else `null`. */
async function vectorPage({ bytes, picture, size, limits }: Conversion): Promise<Buffer | null> {
  const pdf = await drawVectorPdf(bytes, size);
  if (pdf === null) return null;
  const proofSize = fitSquare(size, PROOF_SIDE, true);
  const drawnAs = { width: proofSize.width * 2, height: proofSize.height * 2 };
  try {
    const drawn = await openPdf(pdf, { maxPixels: limits.maxOutputPixels });
    const images = [await picture.decode({ drawnAs }), await drawn.decode({ drawnAs })] as const;
    return (await looksAlike(...images, proofSize)) ? pdf : null;
  } catch (error) {
    // If PDFium cannot read the page, other readers may not either.
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}

/**
 * Draws a cleaned SVG as a one-page vector PDF, one point per user unit; `null` for drawings that svg-to-pdfkit is
 * known not to support. svg-to-pdfkit omits or misplaces unknown elements without an error: compare the result before
 * use.
 */
async function drawVectorPdf(svg: Buffer, size: Size): Promise<Buffer | null> {
  if (svg.length > MAX_SVG_BYTES) return null;
  const text = writeSvgRoot(withBackgroundShape(readSvgRoot(svg))).toString();
  if (UNSUPPORTED.test(text)) return null;
  const [{ default: PDFDocument }, { default: SVGtoPDF }] = await Promise.all([
    import("pdfkit"),
    import("svg-to-pdfkit"),
  ]);
  // A fixed date, so that equal drawings give equal files.
  const document = new PDFDocument({
    size: [size.width, size.height],
    margin: 0,
    info: { CreationDate: new Date(0) },
  });
  const finished = collect(document);
  try {
    SVGtoPDF(document, text, 0, 0, { width: size.width, height: size.height, assumePt: true });
    document.end();
  } catch {
    // svg-to-pdfkit throws TypeErrors for unsupported drawings; those become rasters.
    return null;
  }
  return finished;
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // pdfkit writes only Buffers.
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/**
 * Whether two drawings of a picture look the same. Pass both at twice `size` or more: averaging evens out differences
 * in antialiasing.
 */
async function looksAlike(one: Sharp, other: Sharp, size: Size): Promise<boolean> {
  const [a, b] = await Promise.all([averaged(one, size), averaged(other, size)]);
  if (a.length !== b.length) return false;
  let sum = 0;
  let different = 0;
  for (let index = 0; index < a.length; index++) {
    // Both have this index.
    const difference = Math.abs((a[index] as number) - (b[index] as number));
    sum += difference;
    if (difference > VISIBLE_DIFFERENCE) different++;
  }
  return sum <= a.length * MAX_MEAN_DIFFERENCE && different <= a.length * MAX_DIFFERENT_SHARE;
}

function averaged(image: Sharp, size: Size): Promise<Buffer> {
  return image
    .flatten({ background: "#ffffff" })
    .resize({ ...size, fit: "fill" })
    .toColourspace("srgb")
    .removeAlpha()
    .raw()
    .toBuffer();
}
