import { cleanDocument, type StripPdfOptions } from "./pdf/clean-document.ts";
import { resavePdf } from "./pdf/saved-pdf.ts";

export type { StripPdfOptions } from "./pdf/clean-document.ts";

/**
 * Removes metadata from a PDF, and all that starts something or carries a file. PDFium saves the document first, so that each
 * object has the one reading that is drawn. Then it is written anew from its catalogue: what the allow-lists name, and
 * nothing that is not reached. Returns `null` for a document that is written as it was.
 *
 * Signatures lose their values. Annotations, form fields and their values stay. Rejects with `unsupported_media` when
 * something cannot be removed, also for a document that needs a password.
 *
 * Source: ISO 32000-1, sections 12.6 (actions), 7.11 (files), 14.3 (metadata), 14.5 (page-piece dictionaries).
 */
export async function stripPdf(
  bytes: Buffer,
  options: StripPdfOptions = {},
): Promise<readonly Buffer[] | null> {
  const cleaned = cleanDocument(await resavePdf(bytes), options);
  return cleaned.equals(bytes) ? null : [cleaned];
}
