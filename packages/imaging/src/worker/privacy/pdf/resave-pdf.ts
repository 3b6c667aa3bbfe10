import { usePdfDocument } from "../../pdf/pdf-document.ts";
import { savePdf } from "../../pdf/save-pdf.ts";
import { Edits } from "../edits.ts";
import { blankObject } from "./blank-out.ts";
import { readPdfParts } from "./pdf-objects.ts";
import { nameOf } from "./pdf-value.ts";

/**
 * Saves a PDF again: the same pages, not encrypted, without object streams. Rejects with `unsupported_media` when
 * opening it needs a password.
 */
export async function resavePdf(bytes: Buffer): Promise<Buffer> {
  const saved = await usePdfDocument(bytes, (document) => {
    document.pdfium.EPDF_RemoveEncryption(document.handle);
    return savePdf(document);
  });
  return withoutOldStructure(saved);
}

/** Blanks the object streams and cross-reference streams that PDFium copies although they are no longer used. */
function withoutOldStructure(saved: Buffer): Buffer {
  const host = { content: saved, edits: new Edits(saved, "application/pdf") };
  for (const part of readPdfParts(saved)) {
    if (part.kind === "trailer" || part.data === null) continue;
    const type = nameOf(part.value, "Type");
    if (type === "ObjStm" || type === "XRef") blankObject({ ...part, host }, part.value);
  }
  return Buffer.concat(host.edits.apply() ?? [saved]);
}
