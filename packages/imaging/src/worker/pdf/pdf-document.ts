import { createHash } from "node:crypto";
import type { Size } from "@outrigger/core/images";
import { ServiceError } from "@outrigger/core/values";
import { damaged, unreadable } from "../picture.ts";
import { type Pdfium, readFloats, releasing, useMemory, usePdfium } from "./pdfium.ts";

/** A document that is open in an instance of PDFium. */
export interface PdfDocument {
  pdfium: Pdfium;
  handle: number;
  /** The declared number of pages. In a damaged file some may be missing. */
  pageCount: number;
}

/** Codes of `FPDF_GetLastError` for a file that cannot be loaded (`fpdfview.h`). */
const reasons: Partial<Record<number, string>> = {
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
        const reason = reasons[pdfium.FPDF_GetLastError()];
        throw reason === undefined ? damaged() : unreadable("application/pdf", reason);
      }
      return useLoadedDocument(pdfium, handle, (document) => {
        if (document.pageCount < 1) throw damaged("it has no pages");
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
  if (page === 0) throw damaged(`its page ${index + 1} cannot be read`);
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
    if (!isCopied) throw damaged("its pages cannot be read");
    return use({ ...copies, pageCount: indexes.length });
  });
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

/** The visible size of the page at `index`, from 0, in points: its crop box, rotated. */
export function readPageSize({ pdfium, handle }: PdfDocument, index: number): Size {
  const size = readFloats(pdfium, 2, (pointer) => pdfium.FPDF_GetPageSizeByIndexF(handle, index, pointer));
  const [width = 0, height = 0] = size ?? [];
  const name = `its page ${index + 1}`;
  if (size === null) throw damaged(`${name} cannot be read`);
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

/** Bytes of an `FPDF_FILEWRITE`: a version and a function. */
const FILE_WRITE_BYTES = 8;
const FILE_WRITE_VERSION = 1;
/** The type of `WriteBlock`: three 32-bit numbers in, one out. */
const WRITE_BLOCK_SIGNATURE = "iiii";
/** Bytes at the end of the file that hold PDFium's trailer. */
const TRAILER_BYTES = 512;

/** Saves the document as a file, not encrypted. The same document gives the same bytes. */
export function savePdf({ pdfium, handle }: PdfDocument): Buffer {
  const { pdfium: runtime } = pdfium;
  pdfium.EPDF_SetMetaText(handle, "CreationDate", 0);
  const blocks: Buffer[] = [];
  const writeBlock = runtime.addFunction((_, start = 0, length = 0) => {
    blocks.push(Buffer.from(runtime.HEAPU8.subarray(start, start + length)));
    return 1;
  }, WRITE_BLOCK_SIGNATURE);
  const isSaved = releasing(
    () =>
      useMemory(pdfium, FILE_WRITE_BYTES, (fileWrite) => {
        new Int32Array(runtime.HEAPU8.buffer, fileWrite, 2).set([FILE_WRITE_VERSION, writeBlock]);
        return pdfium.FPDF_SaveAsCopy(handle, fileWrite, 0);
      }),
    () => runtime.removeFunction(writeBlock),
  );
  if (!isSaved) throw unreadable("application/pdf", "it cannot be saved");
  return withStableId(Buffer.concat(blocks));
}

/** Replaces the random identifier of the file with a digest of the bytes before it (ISO 32000-1, 14.4). */
function withStableId(file: Buffer): Buffer {
  const trailer = file.toString("latin1", Math.max(0, file.length - TRAILER_BYTES));
  const found = /\/ID\[<[0-9A-F]{32}><[0-9A-F]{32}>\]/.exec(trailer);
  if (found === null) return file;
  const start = file.length - trailer.length + found.index;
  const digest = createHash("sha256")
    .update(file.subarray(0, start))
    .digest("hex")
    .slice(0, 32)
    .toUpperCase();
  file.write(`/ID[<${digest}><${digest}>]`, start, "latin1");
  return file;
}

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
          throw damaged(`the annotations of its page ${index + 1} cannot be read`);
        }
      });
    }
  });
}
