import { savePdf, usePdfDocument } from "../pdf/pdf-document.ts";
import { unreadable } from "../picture.ts";
import { Edits } from "./edits.ts";
import { ActiveContent } from "./pdf/active-content.ts";
import { blankObject } from "./pdf/blank-out.ts";
import { ImageMetadata } from "./pdf/image-metadata.ts";
import {
  hasHiddenObjects,
  listHiddenObjects,
  type PdfInventory,
  takePdfInventory,
} from "./pdf/pdf-inventory.ts";
import { readPdfParts } from "./pdf/pdf-objects.ts";
import { isSound } from "./pdf/pdf-structure.ts";
import { pdfNameAt } from "./pdf/pdf-value.ts";
import { blankPrivateData, blankSuspects, type PrivateData } from "./pdf/private-data.ts";

const TYPE = "application/pdf";
const END_OF_FILE = "%%EOF";
/** Readers look for the header up to this position. */
const MAX_HEADER_START = 1024;

/** What {@link stripPdf} leaves in a document. */
export interface StripPdfOptions {
  /** Document information, XMP, programs' private data, and metadata of embedded JPEGs. @default false */
  keepMetadata?: boolean;
  /** Actions, scripts, attached files and multimedia. @default false */
  keepPdfActions?: boolean;
  /** Whatever cannot be removed, for a document that was admitted before. @default false: it is refused */
  keepUnremovable?: boolean;
}

/**
 * Removes metadata from a PDF, and all that starts something or carries a file, also in superseded revisions. It is
 * overwritten in place, so nothing moves and pages stay byte for byte. If that is impossible (encrypted, damaged,
 * unusually compressed, or read differently by different programs), the document is first saved again without encryption.
 * The pieces share the memory of `bytes`; `null` when there is nothing to remove.
 *
 * Signatures become invalid. Annotations, form fields and their values stay. Rejects with `unsupported_media` when
 * something cannot be removed, also for a document that needs a password.
 *
 * Source: ISO 32000-1, sections 12.6 (actions), 7.11 (files), 14.3 (metadata), 14.5 (page-piece dictionaries).
 */
export async function stripPdf(
  bytes: Buffer,
  options: StripPdfOptions = {},
): Promise<readonly Buffer[] | null> {
  const stripped = blankPdf(bytes, options);
  if (stripped.left === undefined) return stripped.pieces;
  const saved = await resavePdf(bytes);
  const { pieces, left } = blankPdf(saved, options);
  if (left !== undefined && options.keepUnremovable !== true)
    throw unreadable(TYPE, `its ${left} cannot be removed`);
  return pieces ?? [saved];
}

/** Returns the blanked document, and what may not be overwritable in place, if something may not be. */
function blankPdf(
  bytes: Buffer,
  { keepMetadata = false, keepPdfActions = false }: StripPdfOptions,
): { pieces: readonly Buffer[] | null; left?: "metadata" | "actions" } {
  const found: PrivateData = { gone: new Set(), suspects: new Set(), authors: new Set(), threads: new Set() };
  const active = new ActiveContent();
  const images = new ImageMetadata();
  const unremovable = keepMetadata ? "actions" : "metadata";
  let isBlank = true;
  const inventory = takePdfInventory(bytes, (object, value) => {
    if (!keepPdfActions) active.visit(object, value);
    if (keepMetadata) return;
    blankPrivateData(object, value, found);
    if (value !== null && !images.visit(object, value)) isBlank = false;
  });
  if (inventory === null) return { pieces: null, left: unremovable };
  if (!images.finish(inventory)) isBlank = false;
  if (!keepPdfActions) active.finish(inventory);
  if (active.isAmbiguous) return { pieces: null, left: "actions" };
  if (!keepMetadata) blankSuspects(inventory, found);
  blankSurroundings(inventory);
  for (const { stream, start, end } of inventory.objectStreams) {
    const packed = stream.pack();
    if (packed === null) isBlank = false;
    else inventory.file.edits.replace(start, end, packed);
  }
  const pieces = inventory.file.edits.apply();
  if (!isBlank) return { pieces, left: unremovable };
  if (keepPdfActions) return { pieces };
  // Else the blanked bytes may have been what programs read differently, so the result is read.
  const isPlain = isSound(inventory) && !hasHiddenObjects(inventory);
  return isPlain || isInert(Buffer.concat(pieces ?? [bytes])) ? { pieces } : { pieces, left: "actions" };
}

/** Whether all readers read a document alike, and find nothing in it that starts something. */
function isInert(bytes: Buffer): boolean {
  const active = new ActiveContent();
  const visit = active.visit.bind(active);
  const inventory = takePdfInventory(bytes, visit);
  if (inventory === null || !isSound(inventory) || !listHiddenObjects(inventory, visit)) return false;
  active.finish(inventory);
  return !active.hasRemoved && !active.isAmbiguous;
}

/** Removes bytes before the header, such as lines of a mail, and after the end. */
function blankSurroundings({ file: { content, edits }, objects }: PdfInventory): void {
  const header = content.subarray(0, MAX_HEADER_START).indexOf("%PDF-", 0, "latin1");
  // Positions in the file count from its header.
  if (header > 0) edits.remove(0, header);
  const end = content.lastIndexOf(END_OF_FILE, undefined, "latin1") + END_OF_FILE.length;
  const lastObject = objects.findLast(({ host }) => host.content === content);
  const tail = content.subarray(end).toString("latin1", 0, 2);
  const lineEnd = /^(?:\r\n|\r|\n)?/.exec(tail)?.[0].length ?? 0;
  if (lastObject !== undefined && end > lastObject.end) edits.remove(end + lineEnd, content.length);
}

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
    const type = pdfNameAt(part.value, "Type");
    if (type === "ObjStm" || type === "XRef") blankObject({ ...part, host }, part.value);
  }
  return Buffer.concat(host.edits.apply() ?? [saved]);
}
