import { usePdfDocument } from "../../pdf/pdf-document.ts";
import { savePdf } from "../../pdf/save-pdf.ts";
import { Edits } from "../edits.ts";
import { blankObject } from "./blank-out.ts";
import { readPdfParts } from "./pdf-objects.ts";
import { nameOf } from "./pdf-value.ts";

/**
 * Saves a PDF anew: the same pages, not encrypted, without object streams. Rejects with `unsupported_media` when it
 * cannot be opened without a password.
 */
export async function resavePdf(bytes: Buffer): Promise<Buffer> {
  const saved = await usePdfDocument(bytes, (document) => {
    document.pdfium.EPDF_RemoveEncryption(document.handle);
    return savePdf(document);
  });
  return withoutOldStructure(saved);
}

/** PDFium copies object streams and cross-reference streams as if they were still of use. */
function withoutOldStructure(saved: Buffer): Buffer {
  const host = { content: saved, edits: new Edits(saved, "application/pdf") };
  for (const part of readPdfParts(saved)) {
    if (part.kind === "trailer" || part.data === null) continue;
    const type = nameOf(part.value, "Type");
    if (type === "ObjStm" || type === "XRef") blankObject({ ...part, host }, part.value);
  }
  return Buffer.concat(host.edits.apply() ?? [saved]);
}
