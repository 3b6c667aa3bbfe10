import { unreadable } from "../picture.ts";
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

/** `FORMTYPE_NONE`. */
const NO_FORMS = 0;

/** Changes to a document. Without any, the document is returned unchanged. */
interface TransformPdfOptions {
  /** The only page to keep, from 1. @default all pages */
  page?: number;
  /** Factor for the sizes of all pages. @default 1 */
  scale?: number;
}

/**
 * Extracts one page of a PDF, or scales its pages. Text stays text and vectors stay vectors. In scaled pages and in
 * documents with forms, annotations and form fields are drawn into the pages, which then lose their links. Annotations that
 * are not shown on screen vanish. Bookmarks, other document-level parts and the owner's restrictions are omitted: hidden layers
 * would be shown, so the document must have none.
 *
 * Rejects with `unsupported_media` (not a PDF, damaged, encrypted) and with `bad_request` for a page that the document does
 * not have.
 */
export function transformPdf(bytes: Buffer, { page, scale = 1 }: TransformPdfOptions): Promise<Buffer> {
  return usePdfDocument(bytes, (document) => {
    if (page !== undefined) checkPage(document, page);
    const isWhole = page === undefined || document.pageCount === 1;
    if (isWhole && scale === 1) return bytes;
    const change = (whole: PdfDocument) => useScaledPages(whole, scale, savePdf);
    if (isWhole) return change(document);
    return useOnlyPage(document, page - 1, scale === 1 ? savePdf : change);
  });
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
