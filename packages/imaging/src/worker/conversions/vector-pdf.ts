import type { Size } from "../../shared/fit.ts";

/** Beyond it the attempt costs more than a raster does. */
const MAX_SVG_BYTES = 256 * 1024;

/** What svg-to-pdfkit leaves out. */
const UNSUPPORTED = /<(?:filter|mask|foreignObject|switch|animate|animateTransform|animateMotion|set)\b/;

/**
 * Draws a cleaned SVG as the vectors of a one-page PDF, a point for a user unit; `null` where that is known to be beyond
 * svg-to-pdfkit. It leaves out or misplaces what it does not know without a word: compare the result before using it.
 */
export async function drawVectorPdf(svg: Buffer, size: Size): Promise<Buffer | null> {
  if (svg.length > MAX_SVG_BYTES) return null;
  const text = svg.toString("utf8");
  if (UNSUPPORTED.test(text)) return null;
  const [{ default: PDFDocument }, { default: SVGtoPDF }] = await Promise.all([
    import("pdfkit"),
    import("svg-to-pdfkit"),
  ]);
  // A fixed date, so that equal drawings are equal files.
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
    // It throws its own TypeErrors on drawings that it does not understand; those become rasters.
    return null;
  }
  return finished;
}

async function collect(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // pdfkit writes Buffers only.
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
