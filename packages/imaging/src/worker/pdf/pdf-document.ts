import { ServiceError } from "@outrigger/core";
import { unreadable } from "../unreadable.ts";
import { useMemory } from "./pdf-memory.ts";
import { type Pdfium, releasing, usePdfium } from "./pdfium.ts";

/** A document that is open in an instance of PDFium. */
export interface PdfDocument {
  pdfium: Pdfium;
  handle: number;
  /** The declared number of pages. In a damaged file some may be missing. */
  pageCount: number;
}

/** Codes of `FPDF_GetLastError` for a file that cannot be loaded (`fpdfview.h`). */
const reasons: Partial<Record<number, string>> = {
  3: "it is not a PDF, or damaged beyond repair",
  4: "it is protected by a password",
  5: "its kind of encryption is unknown",
};

/**
 * Opens the file while `use` runs. Loading is cheap, because pages are parsed when they are opened. A file that only
 * restricts its use opens without its owner's password. The document has at least one page.
 *
 * Rejects with `unsupported_media` for a file that is not a PDF, damaged, encrypted, without pages, or not supported by
 * PDFium.
 */
export async function usePdfDocument<Result>(
  bytes: Buffer,
  use: (document: PdfDocument) => Result,
): Promise<Result> {
  return usePdfium((pdfium) =>
    // PDFium reads this memory until the document is closed. One byte more, because an empty allocation has no pointer.
    useMemory(pdfium, bytes.length + 1, (file) => {
      pdfium.pdfium.HEAPU8.set(bytes, file);
      const handle = pdfium.FPDF_LoadMemDocument(file, bytes.length, "");
      if (handle === 0) {
        throw unreadable("application/pdf", reasons[pdfium.FPDF_GetLastError()] ?? "it is damaged");
      }
      return useLoadedDocument(pdfium, handle, (document) => {
        if (document.pageCount < 1) throw unreadable("application/pdf", "it has no pages");
        return use(document);
      });
    }),
  );
}

/** Calls `use` with a document that PDFium has loaded or created, then closes it. */
export function useLoadedDocument<Result>(
  pdfium: Pdfium,
  handle: number,
  use: (document: PdfDocument) => Result,
): Result {
  return releasing(
    () => use({ pdfium, handle, pageCount: pdfium.FPDF_GetPageCount(handle) }),
    () => pdfium.FPDF_CloseDocument(handle),
  );
}

/** Throws `bad_request` for a page, from 1, that the document does not have. */
export function checkPage({ pageCount }: PdfDocument, page: number): void {
  if (page > pageCount) throw new ServiceError("bad_request", `page must be at most ${pageCount}.`);
}

/** Opens the page at `index`, from 0, while `use` runs. */
export function usePdfPage<Result>(
  { pdfium, handle }: PdfDocument,
  index: number,
  use: (page: number) => Result,
): Result {
  const page = pdfium.FPDF_LoadPage(handle, index);
  if (page === 0) throw unreadable("application/pdf", `its page ${index + 1} is missing or damaged`);
  return releasing(
    () => use(page),
    () => pdfium.FPDF_ClosePage(page),
  );
}

/**
 * Copies the pages at `indexes`, from 0, to a new document, which is open while `use` runs. Shared objects are copied
 * once. Document-level parts are omitted, and so are form field values that are not drawn into the pages.
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
