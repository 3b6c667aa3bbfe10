import type { Size } from "@outrigger/core/images";
import type { Placement } from "../../shared/crop.ts";
import { unreadable } from "../unreadable.ts";
import type { PdfDocument } from "./pdf-document.ts";
import { useForms } from "./pdf-forms.ts";
import { useMemory } from "./pdf-memory.ts";
import { withFallbackFont } from "./substitute-fonts.ts";
import { findUndrawn } from "./undrawn.ts";

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
