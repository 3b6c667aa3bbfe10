import { isServiceError } from "@outrigger/core";
import type { Size } from "@outrigger/core/images";
import type { Sharp } from "sharp";
import { fitInside } from "../../shared/fit.ts";
import { openPdf } from "../pdf/open-pdf.ts";
import { withBackgroundShape } from "../svg/root-background.ts";
import { readSvgRoot, writeSvgRoot } from "../svg/svg-root.ts";
import type { Conversion } from "./conversion.ts";

/** Above this size the attempt costs more than a raster. */
const MAX_SVG_BYTES = 256 * 1024;

/** Elements that svg-to-pdfkit ignores. */
const UNSUPPORTED = /<(?:filter|mask|foreignObject|switch|animate|animateTransform|animateMotion|set)\b/;

/** A difference in a colour channel larger than any caused by different antialiasing. */
const VISIBLE_DIFFERENCE = 48;
/** Pixels that may differ visibly: corners and crossings. */
const MAX_DIFFERENT_SHARE = 0.001;
const MAX_MEAN_DIFFERENCE = 1.5;
/** Size at which a vector page is compared with the drawing. Small details are still visible. */
const PROOF = { maxWidth: 512, maxHeight: 512, maxSide: 512, maxPixels: 512 * 512 };

/** An SVG as a one-page vector PDF if that looks the same; else `null`. */
export async function vectorPage({ bytes, picture, size, limits }: Conversion): Promise<Buffer | null> {
  const pdf = await drawVectorPdf(bytes, size);
  if (pdf === null) return null;
  const proofSize = fitInside(size, { ...PROOF, enlarge: true });
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
