import { framePages, type PageFrame } from "./frame-pages.ts";
import { markLayers } from "./layers.ts";
import { checkPage, type PdfDocument, useCopiedPages, usePdfDocument } from "./pdf-document.ts";
import { flattenPages } from "./pdf-forms.ts";
import { savePdf } from "./save-pdf.ts";
import { useScaledPages } from "./scale-pages.ts";

/** `FORMTYPE_NONE`. */
const NO_FORMS = 0;

/** Changes to a document. Without any, the document is returned unchanged. */
export interface TransformPdfOptions {
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
