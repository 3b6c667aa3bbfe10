import { unreadable } from "../unreadable.ts";
import type { PdfDocument } from "./pdf-document.ts";
import { readFloats } from "./pdf-memory.ts";
import type { Pdfium } from "./pdfium.ts";

/** Width and height in points, of which an inch has 72. */
export interface PageSize {
  width: number;
  height: number;
}

/** A rectangle in points, y upwards. */
export interface PageBox {
  left: number;
  bottom: number;
  right: number;
  top: number;
}

/** Points per side, 70 m. PDF itself has no limit; Acrobat's is 14,400. */
const MAX_PAGE_POINTS = 200_000;

/** The visible size of the page at `index`, from 0: its crop box, rotated. */
export function readPageSize({ pdfium, handle }: PdfDocument, index: number): PageSize {
  const size = readFloats(pdfium, 2, (pointer) => pdfium.FPDF_GetPageSizeByIndexF(handle, index, pointer));
  const [width = 0, height = 0] = size ?? [];
  const name = `its page ${index + 1}`;
  if (size === null) throw unreadable("application/pdf", `${name} is missing or damaged`);
  if (!(width > 0 && height > 0)) throw unreadable("application/pdf", `${name} has no area`);
  if (Math.max(width, height) > MAX_PAGE_POINTS) {
    throw unreadable("application/pdf", `${name} is wider or higher than ${MAX_PAGE_POINTS} points`);
  }
  return { width, height };
}

/** The visible part of an open page before rotation: its crop box within its media box. */
export function readPageBox(pdfium: Pdfium, page: number): PageBox {
  // An FS_RECTF.
  const [left = 0, top = 0, right = 0, bottom = 0] =
    readFloats(pdfium, 4, (pointer) => pdfium.FPDF_GetPageBoundingBox(page, pointer)) ?? [];
  return { left, bottom, right, top };
}

/** Sets the media box and crop box of an open page to `box`. */
export function setPageBox(pdfium: Pdfium, page: number, { left, bottom, right, top }: PageBox): void {
  pdfium.FPDFPage_SetMediaBox(page, left, bottom, right, top);
  pdfium.FPDFPage_SetCropBox(page, left, bottom, right, top);
}
