import { isServiceError, MAX_PAGE_RUNS, type PageSizes } from "@outrigger/core";
import type { Size } from "../../shared/fit.ts";
import { pixelsOf } from "./open-pdf.ts";
import { readPageSize } from "./page-geometry.ts";
import { type PdfDocument, usePdfDocument } from "./pdf-document.ts";

/** Pages that are looked at: a thousand take 20 ms. */
const MAX_PAGES = 2000;
const UNKNOWN: Size = { width: 0, height: 0 };

/** The sizes of a document's pages in runs of equal ones. Rejects with `unsupported_media` as {@link usePdfDocument} does. */
export function listPageSizes(bytes: Buffer): Promise<PageSizes> {
  return usePdfDocument(bytes, (document) => {
    const runs: [firstPage: number, width: number, height: number][] = [];
    for (let page = 1; page <= document.pageCount; page++) {
      const isPastLimit = page > MAX_PAGES;
      const { width, height } = isPastLimit ? UNKNOWN : sizeOf(document, page);
      const last = runs.at(-1);
      if (last?.[1] !== width || last[2] !== height) {
        if (runs.length === MAX_PAGE_RUNS - 1) return [...runs, [page, UNKNOWN.width, UNKNOWN.height]];
        runs.push([page, width, height]);
      }
      if (isPastLimit) break;
    }
    return runs;
  });
}

/** A page that is damaged is no reason to refuse the document: drawing it says what is wrong. */
function sizeOf(document: PdfDocument, page: number): Size {
  try {
    return pixelsOf(readPageSize(document, page - 1));
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return UNKNOWN;
    throw error;
  }
}
