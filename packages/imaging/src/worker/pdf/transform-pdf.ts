import { checkPage, type PdfDocument, useCopiedPages, usePdfDocument } from "./pdf-document.ts";
import { flattenPages } from "./pdf-forms.ts";
import { savePdf } from "./save-pdf.ts";
import { useScaledPages } from "./scale-pages.ts";

/** `FORMTYPE_NONE`. */
const NO_FORMS = 0;

/** Changes to a document. Without any, it stays as it is. */
export interface TransformPdfOptions {
  /** The one page, from 1, that is kept. @default all of them */
  page?: number;
  /** By what the sizes of all pages are multiplied. @default 1 */
  scale?: number;
}

/**
 * One page of a PDF, or its pages at another size. Text stays text and vectors stay vectors. Annotations and form fields
 * are drawn into pages that are scaled and into pages of documents with forms; those lose their links. Bookmarks and other
 * parts of the document as a whole are left out, restrictions by its owner as well.
 *
 * Rejects with `unsupported_media` (not a PDF, damaged, encrypted) and with `bad_request` for a page that the document does
 * not have.
 */
export async function transformPdf(bytes: Buffer, { page, scale = 1 }: TransformPdfOptions): Promise<Buffer> {
  return usePdfDocument(bytes, (document) => {
    if (page !== undefined) checkPage(document, page);
    const isWhole = page === undefined || document.pageCount === 1;
    if (isWhole && scale === 1) return bytes;
    if (isWhole) return useScaledPages(document, scale, savePdf);
    return useOnlyPage(document, page - 1, (single) =>
      scale === 1 ? savePdf(single) : useScaledPages(single, scale, savePdf),
    );
  });
}

/** Opens, for as long as `use` runs, a document that consists of the page at `index`, from 0. */
function useOnlyPage<Result>(
  document: PdfDocument,
  index: number,
  use: (single: PdfDocument) => Result,
): Result {
  if (document.pdfium.FPDF_GetFormType(document.handle) !== NO_FORMS) flattenPages(document, [index]);
  return useCopiedPages(document, [index], use);
}
