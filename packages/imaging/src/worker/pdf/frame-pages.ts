import type { Size } from "@outrigger/core/images";
import { unreadable } from "../unreadable.ts";
import { type PageBox, readPageBox, setPageBox } from "./page-geometry.ts";
import { type PdfDocument, usePdfPage } from "./pdf-document.ts";
import type { Pdfium } from "./pdfium.ts";

/** The part of each page to show, in points of the page as it is shown. A negative offset gives bars. */
export interface PageFrame extends Size {
  left: number;
  top: number;
  /** Colour of the bars: six hexadecimal digits. @default white */
  background?: string | undefined;
}

/** `FPDF_FILLMODE_ALTERNATE`. */
const FILLED = 1;

/** Shows only a part of every page, or bars around it. Pages stay as they are below the edges of the part. */
export function framePages(document: PdfDocument, frame: PageFrame): void {
  const { pdfium } = document;
  for (let index = 0; index < document.pageCount; index++) {
    usePdfPage(document, index, (page) => {
      const shown = readPageBox(pdfium, page);
      const framed = boxOf(frame, shown, pdfium.FPDFPage_GetRotation(page));
      setPageBox(pdfium, page, framed);
      const bars = barsOf(framed, shown);
      for (const bar of bars) fill(pdfium, page, bar, frame.background ?? "ffffff");
      if (bars.length > 0 && !pdfium.FPDFPage_GenerateContent(page)) {
        throw unreadable("application/pdf", `its page ${index + 1} cannot be extended`);
      }
    });
  }
}

/**
 * The box of a frame in a page that is shown `rotation` quarter turns clockwise. It begins between two pixels: a reader
 * would give a page that begins within one a row more.
 */
function boxOf(frame: PageFrame, page: PageBox, rotation: number): PageBox {
  const [x1, y1] = pointOf(frame.left, frame.top);
  const [x2, y2] = pointOf(frame.left + frame.width, frame.top + frame.height);
  const [left, bottom] = [snapped(Math.min(x1, x2)), snapped(Math.min(y1, y2))];
  const [width, height] = rotation % 2 === 0 ? [frame.width, frame.height] : [frame.height, frame.width];
  return { left, bottom, right: left + width, top: bottom + height };

  /** The point of the page that is shown `x` from the left and `y` from the top. */
  function pointOf(x: number, y: number): [x: number, y: number] {
    switch (rotation % 4) {
      case 1:
        return [page.left + y, page.bottom + x];
      case 2:
        return [page.right - x, page.bottom + y];
      case 3:
        return [page.right - y, page.top - x];
      default:
        return [page.left + x, page.top - y];
    }
  }
}

/** Rounded to half a point, the size of a pixel. */
function snapped(points: number): number {
  return Math.round(points * 2) / 2;
}

/** The parts of `outer` around `inner`. */
function barsOf(outer: PageBox, inner: PageBox): PageBox[] {
  return [
    { ...outer, right: inner.left },
    { ...outer, left: inner.right },
    { ...outer, top: inner.bottom },
    { ...outer, bottom: inner.top },
  ].filter(({ left, bottom, right, top }) => right > left && top > bottom);
}

function fill(pdfium: Pdfium, page: number, { left, bottom, right, top }: PageBox, colour: string): void {
  const rectangle = pdfium.FPDFPageObj_CreateNewRect(left, bottom, right - left, top - bottom);
  const [red, green, blue] = Buffer.from(colour, "hex");
  pdfium.FPDFPageObj_SetFillColor(rectangle, red ?? 0, green ?? 0, blue ?? 0, 255);
  pdfium.FPDFPath_SetDrawMode(rectangle, FILLED, false);
  pdfium.FPDFPage_InsertObject(page, rectangle);
}
