import { unreadable } from "../unreadable.ts";
import { readPageBox, setPageBox } from "./page-geometry.ts";
import type { PdfDocument } from "./pdf-document.ts";
import { useForms } from "./pdf-forms.ts";

/** `FLAT_NORMALDISPLAY`: as the page is seen on screen. */
const AS_DISPLAYED = 0;
/** `FLATTEN_FAIL`, as against flattened and nothing to flatten. */
const FAILED = 0;

/** Draws annotations and form fields of the pages at `indexes`, from 0, into the pages, and removes them. */
export function flattenPages(document: PdfDocument, indexes: Iterable<number>): void {
  const { pdfium } = document;
  useForms(document, (forms) => {
    for (const index of indexes) {
      forms.usePage(index, ({ handle }) => {
        // A box that the page inherits goes unnoticed here: PDFium would cut at the edge of a Letter page.
        setPageBox(pdfium, handle, readPageBox(pdfium, handle));
        if (pdfium.FPDFPage_Flatten(handle, AS_DISPLAYED) === FAILED) {
          throw unreadable("application/pdf", `the annotations of its page ${index + 1} are damaged`);
        }
      });
    }
  });
}
