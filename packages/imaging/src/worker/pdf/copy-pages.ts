import { unreadable } from "../unreadable.ts";
import { type PdfDocument, useLoadedDocument } from "./pdf-document.ts";
import { useMemory } from "./pdf-memory.ts";

/**
 * Opens, for as long as `use` runs, a new document of copies of the pages at `indexes`, from 0. What pages have in common
 * is copied once. What belongs to the document as a whole stays behind: what stands in form fields, too, unless it has
 * been drawn into the pages.
 */
export function useCopiedPages<Result>(
  { pdfium, handle }: PdfDocument,
  indexes: readonly number[],
  use: (copies: PdfDocument) => Result,
): Result {
  return useLoadedDocument(pdfium, pdfium.FPDF_CreateNewDocument(), (copies) => {
    const isCopied = useMemory(pdfium, indexes.length * Int32Array.BYTES_PER_ELEMENT, (list) => {
      new Int32Array(pdfium.pdfium.HEAPU8.buffer, list, indexes.length).set(indexes);
      return pdfium.FPDF_ImportPagesByIndex(copies.handle, handle, list, indexes.length, 0);
    });
    if (!isCopied) throw unreadable("application/pdf", "its pages are missing or damaged");
    return use({ ...copies, pageCount: indexes.length });
  });
}
