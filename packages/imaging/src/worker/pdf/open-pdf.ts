import type { PageSizes, Size } from "@outrigger/core/images";
import { isServiceError, MAX_PAGE_RUNS } from "@outrigger/core/values";
import sharp from "sharp";
import { fitInside, type Placement } from "../../shared/fit.ts";
import { type Picture, unreadable } from "../picture.ts";
import { withHiddenAnnotations } from "./layers.ts";
import { checkPage, type PdfDocument, readPageSize, useForms, usePdfDocument } from "./pdf-document.ts";
import { useMemory } from "./pdfium.ts";
import { withFallbackFont } from "./substitute-fonts.ts";
import { findUndrawn } from "./undrawn.ts";

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
export function pixelsOf({ width, height }: Size): Size {
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
  const source = (hasLayers ? await withHiddenAnnotations(bytes) : null) ?? bytes;
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

/** `FPDFBitmap_BGR`: three bytes a pixel. */
const BGR = 2;
const BYTES_PER_PIXEL = 3;
/** `FPDF_ANNOT`: draw annotations as on screen. */
const WITH_ANNOTATIONS = 0x01;
/** `FPDF_REVERSE_BYTE_ORDER`: RGB instead of BGR. */
const AS_RGB = 0x10;
const WHITE = 0xffffffff;

/**
 * Pixels that are drawn at once. For transparency PDFium allocates one or more bitmaps of the drawn area. A large page
 * is also faster in strips.
 */
const MAX_STRIP_PIXELS = 4_000_000;

/** A part of a window as wide as the window. */
interface Strip {
  /** Rows of the window above it. */
  top: number;
  rows: number;
}

/** Pixels of a side that show whether a page is empty. */
const CLEAR_SIDE = 512;

/**
 * Draws the page at `index`, from 0, on white, with annotations and the contents of form fields. Returns 8-bit RGB,
 * rows without padding. Throws `unsupported_media` for a page whose main content cannot be drawn.
 *
 * @param window The part of the page to draw, in pixels of `size`.
 */
export function drawPage(document: PdfDocument, index: number, size: Size, window?: Placement): Buffer {
  const { width, height } = size;
  const { pixels, undrawn } = draw(document, index, size, window ?? { ...size, left: 0, top: 0 });
  if (undrawn === null && window === undefined) return pixels;
  const scale = CLEAR_SIDE / Math.max(width, height);
  // Small things vanish in a small drawing. A part of a page tells nothing about the page.
  if (scale > 1 || window !== undefined) {
    const clear = { width: Math.ceil(width * scale), height: Math.ceil(height * scale) };
    if (draw(document, index, clear, { ...clear, left: 0, top: 0 }).undrawn === null) return pixels;
  }
  throw unreadable("application/pdf", `its page ${index + 1} ${undrawn}`);
}

/** Draws a window of a page. `undrawn` is a clause about content that is missing, `null` for none. */
function draw(
  document: PdfDocument,
  index: number,
  size: Size,
  window: Placement,
): { pixels: Buffer; undrawn: string | null } {
  const { pdfium } = document;
  const rowBytes = window.width * BYTES_PER_PIXEL;
  const stripRows = Math.min(window.height, Math.max(1, Math.floor(MAX_STRIP_PIXELS / window.width)));
  const pixels = Buffer.allocUnsafeSlow(window.height * rowBytes);
  const undrawn = useForms(document, (forms) =>
    forms.usePage(index, (page) => {
      loadAnnotationFonts(page.handle);
      useMemory(pdfium, stripRows * rowBytes, (memory) => {
        for (let top = 0; top < window.height; top += stripRows) {
          const strip = { top, rows: Math.min(stripRows, window.height - top) };
          drawStrip(strip, memory, page);
          const drawn = pdfium.pdfium.HEAPU8.subarray(memory, memory + strip.rows * rowBytes);
          pixels.set(drawn, top * rowBytes);
        }
      });
      return findUndrawn(document, { handle: page.handle, pixels, size: window });
    }),
  );
  return { pixels, undrawn };

  /** Draws nothing of a page, but loads its annotations. Their fonts are then not taken for fallbacks. */
  function loadAnnotationFonts(page: number): void {
    if (pdfium.FPDFPage_GetAnnotCount(page) === 0) return;
    const bitmap = pdfium.FPDFBitmap_CreateEx(1, 1, BGR, 0, 0);
    pdfium.FPDF_RenderPageBitmap(bitmap, page, 2, 2, 1, 1, 0, WITH_ANNOTATIONS);
    pdfium.FPDFBitmap_Destroy(bitmap);
  }

  function drawStrip({ top, rows }: Strip, memory: number, page: { handle: number; forms: number }): void {
    const { width, height } = size;
    const bitmap = pdfium.FPDFBitmap_CreateEx(window.width, rows, BGR, memory, rowBytes);
    if (bitmap === 0) throw unreadable("application/pdf", "it needs too much memory");
    pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, window.width, rows, WHITE);
    const flags = WITH_ANNOTATIONS | AS_RGB;
    const [left, first] = [0 - window.left, 0 - window.top - top];
    withFallbackFont(() =>
      pdfium.FPDF_RenderPageBitmap(bitmap, page.handle, left, first, width, height, 0, flags),
    );
    pdfium.FPDF_FFLDraw(page.forms, bitmap, page.handle, left, first, width, height, 0, flags);
    pdfium.FPDFBitmap_Destroy(bitmap);
  }
}
