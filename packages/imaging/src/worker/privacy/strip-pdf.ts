import { unreadable } from "../unreadable.ts";
import { blankImageMetadata } from "./pdf/image-metadata.ts";
import { type PdfInventory, takePdfInventory } from "./pdf/pdf-inventory.ts";
import { blankPrivateData, blankSuspects, type PrivateData } from "./pdf/private-data.ts";
import { resavePdf } from "./pdf/resave-pdf.ts";

const TYPE = "application/pdf";
const END_OF_FILE = "%%EOF";
/** Readers look for the header up to this position. */
const MAX_HEADER_START = 1024;

/**
 * Removes metadata from a PDF: document information, XMP, programs' private data, and metadata of embedded JPEGs, also
 * in superseded revisions. It is overwritten in place, so nothing moves and pages stay byte for byte. If that is
 * impossible (encrypted, badly damaged or unusually compressed), the document is first saved again without encryption.
 * The pieces share the memory of `bytes`; `null` when there is nothing to remove.
 *
 * Signatures become invalid. Attached files, annotations and form fields are part of the document and stay. Rejects
 * with `unsupported_media` when metadata cannot be removed, also for a document that needs a password.
 *
 * Source: ISO 32000-1, sections 14.3 (metadata), 14.5 (page-piece dictionaries).
 */
export async function stripPdf(bytes: Buffer): Promise<readonly Buffer[] | null> {
  const stripped = blankPdf(bytes);
  if (stripped !== undefined) return stripped;
  const saved = await resavePdf(bytes);
  const pieces = blankPdf(saved);
  if (pieces === undefined) throw unreadable(TYPE, "its metadata cannot be removed");
  return pieces ?? [saved];
}

/** Returns `undefined` when something may not be overwritable in place. */
function blankPdf(bytes: Buffer): readonly Buffer[] | null | undefined {
  const found: PrivateData = { gone: new Set(), suspects: new Set() };
  let areImagesBlank = true;
  const inventory = takePdfInventory(bytes, (object, value) => {
    blankPrivateData(object, value, found);
    if (value !== null && !blankImageMetadata(object, value)) areImagesBlank = false;
  });
  if (inventory === null || !areImagesBlank) return undefined;
  blankSuspects(inventory, found);
  blankSurroundings(inventory);
  for (const { stream, start, end } of inventory.objectStreams) {
    const packed = stream.pack();
    if (packed === null) return undefined;
    inventory.file.edits.replace(start, end, packed);
  }
  return inventory.file.edits.apply();
}

/** Removes bytes before the header, such as lines of a mail, and after the end. */
function blankSurroundings({ file: { content, edits }, objects }: PdfInventory): void {
  const header = content.subarray(0, MAX_HEADER_START).indexOf("%PDF-", 0, "latin1");
  if (header > 0) edits.replace(0, header, Buffer.alloc(header, " "));
  const end = content.lastIndexOf(END_OF_FILE, undefined, "latin1") + END_OF_FILE.length;
  const lastObject = objects.findLast(({ host }) => host.content === content);
  const tail = content.subarray(end).toString("latin1", 0, 2);
  const lineEnd = /^(?:\r\n|\r|\n)?/.exec(tail)?.[0].length ?? 0;
  if (lastObject !== undefined && end > lastObject.end) edits.remove(end + lineEnd, content.length);
}
