import { unreadable } from "../picture.ts";
import { type PdfDocument, readPageBox, setPageBox, usePdfPage } from "./pdf-document.ts";
import { type Pdfium, releasing } from "./pdfium.ts";

/** A page with its filled-in form fields. */
interface FormPage {
  handle: number;
  /** The `FPDF_FORMHANDLE` that draws the fields. */
  forms: number;
}

/** The forms of a document. */
interface PdfForms {
  /** Opens the page at `index`, from 0, while `use` runs. Fields without an appearance get one. */
  usePage<Result>(index: number, use: (page: FormPage) => Result): Result;
}

/**
 * Loads the forms of a document while `use` runs. JavaScript in the document never runs: this build of PDFium has no
 * engine for it.
 */
export function useForms<Result>(document: PdfDocument, use: (forms: PdfForms) => Result): Result {
  const { pdfium } = document;
  const info = pdfium.PDFiumExt_OpenFormFillInfo();
  const forms = pdfium.PDFiumExt_InitFormFillEnvironment(document.handle, info);
  // Fields are highlighted only for filling them in on a screen.
  pdfium.FPDF_SetFormFieldHighlightAlpha(forms, 0);
  return releasing(
    () => use({ usePage }),
    () => {
      pdfium.PDFiumExt_ExitFormFillEnvironment(forms);
      pdfium.PDFiumExt_CloseFormFillInfo(info);
    },
  );

  function usePage<PageResult>(index: number, use: (page: FormPage) => PageResult): PageResult {
    return usePdfPage(document, index, (handle) => {
      pdfium.FORM_OnAfterLoadPage(handle, forms);
      return releasing(
        () => use({ handle, forms }),
        () => pdfium.FORM_OnBeforeClosePage(handle, forms),
      );
    });
  }
}

/** `FLAT_NORMALDISPLAY`: as the page appears on screen. */
const AS_DISPLAYED = 0;
/** `FLATTEN_FAIL`. Other results: flattened, and nothing to flatten. */
const FAILED = 0;

/** Flags of annotations (ISO 32000-1, table 165). */
const INVISIBLE = 1;
const HIDDEN = 2;
const NO_VIEW = 32;

/**
 * Sets the flags of annotations so that flattening draws what is displayed: it would draw those that are only printed, and
 * take the flag for unknown annotations to be for all.
 */
function flagAsDisplayed(pdfium: Pdfium, page: number): void {
  for (let index = 0; index < pdfium.FPDFPage_GetAnnotCount(page); index++) {
    const annotation = pdfium.FPDFPage_GetAnnot(page, index);
    const flags = pdfium.FPDFAnnot_GetFlags(annotation);
    const displayed = flags & NO_VIEW ? flags | HIDDEN : flags & ~INVISIBLE;
    if (displayed !== flags) pdfium.FPDFAnnot_SetFlags(annotation, displayed);
    pdfium.FPDFPage_CloseAnnot(annotation);
  }
}

/** Draws annotations and form fields of the pages at `indexes`, from 0, into the pages, and removes them. */
export function flattenPages(document: PdfDocument, indexes: Iterable<number>): void {
  const { pdfium } = document;
  useForms(document, (forms) => {
    for (const index of indexes) {
      forms.usePage(index, ({ handle }) => {
        // PDFium ignores an inherited box here and would cut at the edges of a Letter page.
        setPageBox(pdfium, handle, readPageBox(pdfium, handle));
        flagAsDisplayed(pdfium, handle);
        if (pdfium.FPDFPage_Flatten(handle, AS_DISPLAYED) === FAILED) {
          throw unreadable("application/pdf", `the annotations of its page ${index + 1} are damaged`);
        }
      });
    }
  });
}
