import { isServiceError } from "@outrigger/core";
import { MAX_PAGE_RUNS, type PageSizes, type Size } from "@outrigger/core/images";
import sharp from "sharp";
import { fitInside } from "../../shared/fit.ts";
import type { Picture } from "../picture.ts";
import { drawPage } from "./draw-page.ts";
import { markLayers } from "./layers.ts";
import { type PageSize, readPageSize } from "./page-geometry.ts";
import { checkPage, type PdfDocument, usePdfDocument } from "./pdf-document.ts";

/** Options of {@link openPdf}. */
export interface OpenPdfOptions {
  /** From 1. @default 1 */
  page?: number;
  /** Pixels to draw at most. A larger size is scaled down. */
  maxPixels: number;
}

/** Sharp on high-density screens, and the text of a whole page is legible. */
export const PIXELS_PER_POINT = 2;

/** The natural size of a page. */
export function pixelsOf({ width, height }: PageSize): Size {
  return {
    width: Math.max(1, Math.round(width * PIXELS_PER_POINT)),
    height: Math.max(1, Math.round(height * PIXELS_PER_POINT)),
  };
}

/**
 * Opens one page of a PDF. Its size is that of its crop box, rotated with the page. PDFium ignores `UserUnit`: a point
 * is always 1/72 inch.
 *
 * Rejects with `unsupported_media` (not a PDF, damaged, encrypted) and with `bad_request` for a page that the document
 * does not have. `decode` rejects with `unsupported_media` for a page that cannot be drawn.
 */
export async function openPdf(bytes: Buffer, { page = 1, maxPixels }: OpenPdfOptions): Promise<Picture> {
  const index = page - 1;
  const { pages, points, hasLayers } = await usePdfDocument(bytes, (document) => {
    checkPage(document, page);
    const hasLayers = hasAnnotationInLayer(document, index);
    return { pages: document.pageCount, points: readPageSize(document, index), hasLayers };
  });
  // PDFium draws annotations of layers that are off.
  const source = (hasLayers ? (await markLayers(bytes))?.bytes : undefined) ?? bytes;
  const natural = pixelsOf(points);
  return {
    natural,
    frames: 1,
    pages,
    scalable: true,
    async decode({ drawnAs = natural, window } = {}) {
      if (window !== undefined) {
        const { width, height } = window;
        const part = await usePdfDocument(source, (document) => drawPage(document, index, drawnAs, window));
        return sharp(part, { raw: { width, height, channels: 3 } });
      }
      const size = fitInside(drawnAs, { enlarge: false, maxSide: Number.MAX_SAFE_INTEGER, maxPixels });
      // Opened again, not kept open: that takes less than a millisecond and cannot leak.
      const pixels = await usePdfDocument(source, (document) => drawPage(document, index, size));
      return sharp(pixels, { raw: { ...size, channels: 3 } });
    },
  };
}

function hasAnnotationInLayer({ pdfium, handle }: PdfDocument, index: number): boolean {
  for (let number = pdfium.EPDFPage_GetAnnotCountRaw(handle, index) - 1; number >= 0; number--) {
    const annotation = pdfium.EPDFPage_GetAnnotRaw(handle, index, number);
    const hasLayer = pdfium.FPDFAnnot_HasKey(annotation, "OC");
    pdfium.FPDFPage_CloseAnnot(annotation);
    if (hasLayer) return true;
  }
  return false;
}

/** Pages that are measured at most. A thousand take 20 ms. */
const MAX_PAGES = 2000;
const UNKNOWN: Size = { width: 0, height: 0 };

/**
 * The sizes of a document's pages, in runs of equal sizes. Rejects with `unsupported_media` as {@link usePdfDocument}
 * does.
 */
export function listPageSizes(bytes: Buffer): Promise<PageSizes> {
  return usePdfDocument(bytes, (document) => {
    const runs: [firstPage: number, width: number, height: number][] = [];
    for (let page = 1; page <= document.pageCount; page++) {
      const isPastLimit = page > MAX_PAGES;
      const { width, height } = isPastLimit ? UNKNOWN : sizeOf(document, page);
      const last = runs.at(-1);
      if (last?.[1] !== width || last[2] !== height) {
        if (runs.length === MAX_PAGE_RUNS - 1) return [...runs, [page, UNKNOWN.width, UNKNOWN.height]];
        runs.push([page, width, height]);
      }
      if (isPastLimit) break;
    }
    return runs;
  });
}

/**
 * The size of a page; 0 by 0 for a damaged page. The document is still accepted: drawing that page reports the error.
 */
function sizeOf(document: PdfDocument, page: number): Size {
  try {
    return pixelsOf(readPageSize(document, page - 1));
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return UNKNOWN;
    throw error;
  }
}
