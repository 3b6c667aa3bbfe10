import { isServiceError } from "@outrigger/core/values";
import { resavePdf } from "../privacy/strip-pdf.ts";
import { readPageSize, usePdfDocument } from "./pdf-document.ts";
import { rebuildPdf } from "./rebuild-pdf.ts";

/** How far into a file PDFium looks for its header. */
const MAX_HEADER_START = 1024;
const HEADER = "%PDF-1.7\n";

/**
 * Makes a damaged PDF readable. PDFium itself replaces wrong cross-reference tables and trailers. This function also
 * adds a missing header, and rebuilds a file whose page tree or objects are damaged. A repaired file begins with a
 * header, so other programs can open it.
 *
 * Returns `bytes` itself if PDFium opens it. Rejects with `unsupported_media` as {@link usePdfDocument} does, with the
 * reason for the unrepaired file.
 */
export async function repairPdf(bytes: Buffer): Promise<Buffer> {
  const fault = await findFault(bytes);
  if (fault === null) return bytes;
  const headed = withHeader(bytes);
  if (headed !== null) {
    if (headed !== bytes && (await findFault(headed)) === null) return headed;
    const rebuilt = await rebuild(headed);
    if (rebuilt !== null && (await findFault(rebuilt)) === null) return rebuilt;
  }
  if (fault.page === "first") throw fault.error;
  return bytes;
}

/** Why PDFium cannot open the first or the last page. */
interface Fault {
  page: "first" | "last";
  error: unknown;
}

async function findFault(bytes: Buffer): Promise<Fault | null> {
  let page: Fault["page"] = "first";
  try {
    await usePdfDocument(bytes, (document) => {
      readPageSize(document, 0);
      // A count that is too high makes the last pages missing.
      page = "last";
      readPageSize(document, document.pageCount - 1);
    });
    return null;
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return { page, error };
    throw error;
  }
}

/** The file with its header at the start. `null` for a file without objects, which is not a PDF. */
function withHeader(bytes: Buffer): Buffer | null {
  const firstObject = /\d{1,10}\s+\d{1,5}\s+obj/.exec(bytes.toString("latin1"))?.index;
  if (firstObject === undefined) return null;
  const header = bytes.subarray(0, firstObject).indexOf("%PDF-", 0, "latin1");
  if (header === -1) return Buffer.concat([Buffer.from(HEADER), bytes.subarray(firstObject)]);
  return header < MAX_HEADER_START ? bytes : bytes.subarray(header);
}

async function rebuild(bytes: Buffer): Promise<Buffer | null> {
  const rebuilt = rebuildPdf(bytes);
  if (rebuilt !== undefined) return rebuilt;
  try {
    return rebuildPdf(await resavePdf(bytes)) ?? null;
  } catch (error) {
    if (isServiceError(error, "unsupported_media")) return null;
    throw error;
  }
}
