import { createHash } from "node:crypto";
import { unreadable } from "../unreadable.ts";
import type { PdfDocument } from "./pdf-document.ts";
import { useMemory } from "./pdf-memory.ts";
import { releasing } from "./pdfium.ts";

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
