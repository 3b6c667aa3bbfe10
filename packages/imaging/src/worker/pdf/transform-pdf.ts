import type { Size } from "@outrigger/core/images";
import { unreadable } from "../picture.ts";
import { markLayers } from "./layers.ts";
import {
  checkPage,
  flattenPages,
  type PageBox,
  type PdfDocument,
  readPageBox,
  savePdf,
  setPageBox,
  useCopiedPages,
  useLoadedDocument,
  usePdfDocument,
  usePdfPage,
} from "./pdf-document.ts";
import type { Pdfium } from "./pdfium.ts";

/** `FORMTYPE_NONE`. */
const NO_FORMS = 0;

/** Changes to a document. Without any, the document is returned unchanged. */
interface TransformPdfOptions {
  /** The only page to keep, from 1. @default all pages */
  page?: number;
  /** Factor for the sizes of all pages. @default 1 */
  scale?: number;
  /** The part of each page to show, after scaling. @default all of it */
  frame?: PageFrame;
}

/**
 * Extracts one page of a PDF, or scales its pages. Text stays text and vectors stay vectors. In scaled pages and in
 * documents with forms, annotations and form fields are drawn into the pages, which then lose their links. Layers stay, on
 * or off, and annotations that are not shown on screen vanish. Bookmarks, other document-level parts and the owner's restrictions are omitted.
 *
 * Rejects with `unsupported_media` (not a PDF, damaged, encrypted) and with `bad_request` for a page that the document does
 * not have.
 */
export async function transformPdf(bytes: Buffer, options: TransformPdfOptions): Promise<Buffer> {
  const layers = await markLayers(bytes);
  if (layers === null) return transform(bytes, options);
  const transformed = await transform(layers.bytes, options);
  return transformed === layers.bytes ? bytes : layers.restore(transformed);
}

function transform(bytes: Buffer, { page, scale = 1, frame }: TransformPdfOptions): Promise<Buffer> {
  return usePdfDocument(bytes, (document) => {
    if (page !== undefined) checkPage(document, page);
    const isWhole = page === undefined || document.pageCount === 1;
    const isChanged = scale !== 1 || frame !== undefined;
    if (isWhole && !isChanged) return bytes;
    const change = (whole: PdfDocument) => useScaledPages(whole, scale, saveFramed);
    if (isWhole) return change(document);
    return useOnlyPage(document, page - 1, isChanged ? change : savePdf);
  });

  function saveFramed(scaled: PdfDocument): Buffer {
    if (frame !== undefined) framePages(scaled, frame);
    return savePdf(scaled);
  }
}

/** Creates a document of only the page at `index`, from 0, open while `use` runs. */
function useOnlyPage<Result>(
  document: PdfDocument,
  index: number,
  use: (single: PdfDocument) => Result,
): Result {
  if (document.pdfium.FPDF_GetFormType(document.handle) !== NO_FORMS) flattenPages(document, [index]);
  return useCopiedPages(document, [index], use);
}

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
function framePages(document: PdfDocument, frame: PageFrame): void {
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

/** The box and rotation of a page. */
interface PageView {
  box: PageBox;
  /** Quarter turns clockwise. */
  rotation: number;
}

/**
 * Creates a document of the same pages at `scale` times their size, open while `use` runs. Annotations and form fields
 * are drawn into the pages. `source` must not be used afterwards.
 *
 * PDFium has no function for that. Its `FPDFPage_TransFormWithClip` scales a shared pattern once for every page that
 * uses it. Drawing each page as a whole inside another is correct for all content, and only `FPDF_ImportNPagesToOne`
 * does that without copying fonts and pictures for every page. It fits pages into cells, so every page is first
 * enlarged to the box around all pages; then one scale fits all. It needs at least two cells: the second holds an empty
 * page and is cut off.
 */
function useScaledPages<Result>(
  source: PdfDocument,
  scale: number,
  use: (scaled: PdfDocument) => Result,
): Result {
  const indexes = Array.from({ length: source.pageCount }, (_, index) => index);
  flattenPages(source, indexes);
  // PDFium draws nothing for the second occurrence of a page.
  if (isEachPageUnique(source, indexes)) return useUniquePagesScaled(source, scale, use);
  return useCopiedPages(source, indexes, (copies) => useUniquePagesScaled(copies, scale, use));
}

function isEachPageUnique({ pdfium, handle }: PdfDocument, indexes: readonly number[]): boolean {
  const numbers = indexes.map((index) => pdfium.EPDFDoc_GetPageObjectNumberByIndex(handle, index));
  return new Set(numbers).size === indexes.length;
}

function useUniquePagesScaled<Result>(
  source: PdfDocument,
  scale: number,
  use: (scaled: PdfDocument) => Result,
): Result {
  const { pdfium, handle, pageCount } = source;
  const views = Array.from({ length: pageCount }, (_, index) => readView(source, index));
  // The frame includes the origin: PDFium misplaces patterns of forms inside a translated page.
  const frame = boxAround([{ left: 0, bottom: 0, right: 0, top: 0 }, ...views.map(({ box }) => box)]);
  const width = frame.right - frame.left;
  const height = frame.top - frame.bottom;
  // From the end, because every inserted page moves those behind it.
  for (let index = pageCount - 1; index >= 0; index--) {
    setView(source, index, { box: frame, rotation: 0 });
    pdfium.FPDF_ClosePage(pdfium.FPDFPage_New(handle, index + 1, width, height));
  }
  const sheets = pdfium.FPDF_ImportNPagesToOne(handle, 2 * width * scale, height * scale, 2, 1);
  if (sheets === 0) throw unreadable("application/pdf", "its pages cannot be scaled");
  return useLoadedDocument(pdfium, sheets, (scaled) => {
    for (const [index, { box, rotation }] of views.entries()) {
      setView(scaled, index, { box: placedIn(frame, box, scale), rotation });
    }
    return use(scaled);
  });
}

function readView(document: PdfDocument, index: number): PageView {
  const { pdfium } = document;
  return usePdfPage(document, index, (page) => ({
    box: readPageBox(pdfium, page),
    rotation: pdfium.FPDFPage_GetRotation(page),
  }));
}

function setView(document: PdfDocument, index: number, { box, rotation }: PageView): void {
  const { pdfium } = document;
  usePdfPage(document, index, (page) => {
    setPageBox(pdfium, page, box);
    pdfium.FPDFPage_SetRotation(page, rotation);
  });
}

function boxAround(boxes: readonly PageBox[]): PageBox {
  return boxes.reduce((around, box) => ({
    left: Math.min(around.left, box.left),
    bottom: Math.min(around.bottom, box.bottom),
    right: Math.max(around.right, box.right),
    top: Math.max(around.top, box.top),
  }));
}

/** The position of `box` after `frame` is scaled and moved to the origin. */
function placedIn(frame: PageBox, box: PageBox, scale: number): PageBox {
  return {
    left: (box.left - frame.left) * scale,
    bottom: (box.bottom - frame.bottom) * scale,
    right: (box.right - frame.left) * scale,
    top: (box.top - frame.bottom) * scale,
  };
}
